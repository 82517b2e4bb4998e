#include "engine/ops/shared/elementwise_chain.h"

#include <algorithm>
#include <utility>

namespace grurun::engine {

namespace {

using Kind = ChainOperand::Kind;

bool reads(const ChainOperation& operation, std::size_t made) {
  const auto is = [made](const ChainOperand& o) { return o.kind == Kind::made && o.index == made; };
  return is(operation.a) || (operation.binary != nullptr && is(operation.b));
}

// A part of what an operand holds: one value for all, or one for each.
struct Part {
  const float* data;
  bool steps;
};

// Where elements [at, at + n) of a source lie; copied into room for them where they are not side by side.
Part part_of(const ChainSource& source, std::int64_t at, std::int64_t n, float* room) {
  if (source.extent == 1) return {source.data, false};
  std::int64_t place = at / source.inner;
  std::int64_t within = at - place * source.inner;
  place %= source.extent;
  if (source.inner == 1) {
    if (place + n <= source.extent) return {source.data + place, true};
    for (std::int64_t done = 0; done < n; place = 0) {
      const std::int64_t count = std::min(n - done, source.extent - place);
      std::copy_n(source.data + place, count, room + done);
      done += count;
    }
  } else {
    if (within + n <= source.inner) return {source.data + place, false};
    for (std::int64_t done = 0; done < n; within = 0) {
      const std::int64_t count = std::min(n - done, source.inner - within);
      std::fill_n(room + done, count, source.data[place]);
      done += count;
      if (++place == source.extent) place = 0;
    }
  }
  return {room, true};
}

// Blocks begin at multiples of a length in which a short row from outside fits several times: its copies then
// serve all blocks.
std::int64_t block_length(std::span<const ChainSource> outside, std::int64_t most) {
  for (const ChainSource& source : outside) {
    if (source.inner == 1 && source.extent > 1 && source.extent <= most)
      return most / source.extent * source.extent;
  }
  return most;
}

}  // namespace

ElementwiseChain::ElementwiseChain(std::vector<ChainOperation> operations)
    : operations_(std::move(operations)) {
  join_gates();
  std::array<bool, most_operations> taken{};
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    // The last to read a buffer may write it.
    for (std::size_t made = 0; made < i; ++made) {
      const auto later = operations_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (reads(operations_[i], made) &&
          std::none_of(later, operations_.end(), [&](const auto& o) { return reads(o, made); }))
        taken[buffers_[made]] = false;
    }
    buffers_.push_back(static_cast<std::size_t>(std::ranges::find(taken, false) - taken.begin()));
    taken[buffers_.back()] = true;
  }
}

// x * op(x), of which nobody else reads op(x), becomes one operation: the same multiplication in the same
// pass.
void ElementwiseChain::join_gates() {
  for (std::size_t i = 1; i < operations_.size(); ++i) {
    ChainOperation& gate = operations_[i - 1];
    const ChainOperation& product = operations_[i];
    const ChainOperand made{Kind::made, i - 1, 0};
    const bool joins =
        gate.gated != nullptr && product.is_product &&
        ((product.a == made && product.b == gate.a) || (product.b == made && product.a == gate.a));
    const auto later = operations_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (!joins || std::any_of(later, operations_.end(), [&](const auto& o) { return reads(o, i - 1); }))
      continue;
    gate.unary = std::exchange(gate.gated, nullptr);
    operations_.erase(later - 1);
    for (auto each = operations_.begin() + static_cast<std::ptrdiff_t>(i); each != operations_.end();
         ++each) {
      for (ChainOperand* operand : {&each->a, &each->b}) {
        if (operand->kind == Kind::made && operand->index >= i) --operand->index;
      }
    }
  }
}

void ElementwiseChain::run(std::span<const ChainSource> outside, float* y, std::int64_t begin,
                           std::int64_t end) const {
  // Aligned, as are other blocks of operators: of vectors that straddle cache lines each store takes two.
  alignas(64) float made[most_operations][block];
  alignas(64) float copies[most_outside][block];
  const std::int64_t length = block_length(outside, block);
  std::array<bool, most_outside> repeats{};  // the same in every block, and already there
  for (std::size_t k = 0; k < outside.size(); ++k) {
    const ChainSource& source = outside[k];
    repeats[k] = source.inner == 1 && source.extent > 1 && source.extent < std::min(length, end - begin) &&
                 length % source.extent == 0;
    if (repeats[k]) part_of(source, 0, length, copies[k]);
  }
  std::array<Part, most_outside> parts{};
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t from = at % length;
    const std::int64_t n = std::min(length - from, end - at);
    for (std::size_t k = 0; k < outside.size(); ++k)
      parts[k] = repeats[k] ? Part{copies[k] + from, true} : part_of(outside[k], at, n, copies[k]);
    const auto part = [&](const ChainOperand& operand) -> Part {
      if (operand.kind == Kind::constant) return {&operand.constant, false};
      return operand.kind == Kind::made ? Part{made[buffers_[operand.index]], true} : parts[operand.index];
    };
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const ChainOperation& each = operations_[i];
      float* to = i + 1 == operations_.size() ? y + at : made[buffers_[i]];
      const Part a = part(each.a);
      if (each.unary != nullptr) {
        each.unary(each.op.bytes.data(), a.data, to, n);
      } else {
        const Part b = part(each.b);
        each.binary(each.op.bytes.data(), a.data, a.steps, b.data, b.steps, to, n);
      }
    }
    at += n;
  }
}

}  // namespace grurun::engine
