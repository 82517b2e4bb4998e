#include "engine/ops/shared/elementwise_chain.h"

#include <algorithm>
#include <utility>

#include "engine/kernels/vec/vec_normalize.h"

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

// y = (x - mean) * factor + shift for n elements, as vec_standardize; the last three step together.
void standardize_part(const float* x, Part mean, Part factor, Part shift, float* y, std::int64_t n) {
  if (!mean.steps) return kernels::vec_standardize(x, *mean.data, *factor.data, *shift.data, y, n);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean.data[i]) * factor.data[i] + shift.data[i];
}

// Calls body(done, count, k) for elements [at + done, at + done + count) of [at, at + n), which read data[k].
template <typename Body>
void for_each_run(const ChainSource& source, std::int64_t at, std::int64_t n, const Body& body) {
  std::int64_t place = at / source.inner, within = at - place * source.inner;
  place %= source.extent;
  for (std::int64_t done = 0; done < n; within = 0) {
    const std::int64_t count = std::min(n - done, source.inner - within);
    body(done, count, place);
    done += count;
    if (++place == source.extent) place = 0;
  }
}

// What an operation other than a unary one does with elements [at, at + n) of the result. Those of `runs`, if
// it is not null, have an operand in common: an operand that is read so does not step, and its part is all of
// it.
[[gnu::noinline]] void run_by_channel(const ChainOperation& each, Part a, Part b, std::span<const Part> parts,
                                      const ChainSource* runs, std::int64_t at, float* y, std::int64_t n) {
  if (each.binary == nullptr) {
    const Part factor = parts[each.c.index], shift = parts[each.d.index];
    if (runs == nullptr) return standardize_part(a.data, b, factor, shift, y, n);
    return for_each_run(*runs, at, n, [&](std::int64_t done, std::int64_t count, std::int64_t k) {
      kernels::vec_standardize(a.data + done, b.data[k], factor.data[k], shift.data[k], y + done, count);
    });
  }
  const void* op = each.op.bytes.data();
  if (runs == nullptr) return each.binary(op, a.data, a.steps, b.data, b.steps, y, n);
  for_each_run(*runs, at, n, [&](std::int64_t done, std::int64_t count, std::int64_t k) {
    const auto from = [&](Part part) {
      return part.data + (part.steps ? done : part.data == runs->data ? k : 0);
    };
    each.binary(op, from(a), a.steps, from(b), b.steps, y + done, count);
  });
}

auto reads_alone(std::size_t source) {
  return [source](const ChainOperation& each) {
    return each.unary != nullptr && each.a.kind == Kind::outside && each.a.index == source;
  };
}

// Elements for which a call takes no longer than to copy what they have in common.
constexpr std::int64_t least_run = 32;

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
  std::array<bool, most_outside> in_runs{};  // of elements that have one in common: not copied for each
  bool any_in_runs = false;
  for (std::size_t k = 0; k < outside.size(); ++k) {
    const ChainSource& source = outside[k];
    repeats[k] = source.inner == 1 && source.extent > 1 && source.extent < std::min(length, end - begin) &&
                 length % source.extent == 0;
    if (repeats[k]) part_of(source, 0, length, copies[k]);
    in_runs[k] =
        source.extent > 1 && source.inner >= least_run && std::ranges::none_of(operations_, reads_alone(k));
    any_in_runs = any_in_runs || in_runs[k];
  }
  // Of the operands of an operation at most one is, or all by channel alike.
  const auto in_runs_of = [&](const ChainOperation& each) {
    for (const ChainOperand* operand : {&each.a, &each.b})
      if (operand->kind == Kind::outside && in_runs[operand->index]) return operand->index;
    return outside.size();
  };
  std::array<Part, most_outside> parts{};
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t from = at % length;
    const std::int64_t n = std::min(length - from, end - at);
    for (std::size_t k = 0; k < outside.size(); ++k) {
      if (in_runs[k]) {
        parts[k] = {outside[k].data, false};
      } else {
        parts[k] = repeats[k] ? Part{copies[k] + from, true} : part_of(outside[k], at, n, copies[k]);
      }
    }
    const auto part = [&](const ChainOperand& operand) -> Part {
      if (operand.kind == Kind::constant) return {&operand.constant, false};
      const std::size_t k = operand.index;
      if (operand.kind == Kind::made) return {made[buffers_[k]], true};
      return parts[k];
    };
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const ChainOperation& each = operations_[i];
      float* to = i + 1 == operations_.size() ? y + at : made[buffers_[i]];
      const Part a = part(each.a);
      if (each.unary != nullptr) {
        each.unary(each.op.bytes.data(), a.data, to, n);
      } else if (each.binary != nullptr && !any_in_runs) {
        const Part b = part(each.b);
        each.binary(each.op.bytes.data(), a.data, a.steps, b.data, b.steps, to, n);
      } else {
        const std::size_t runs = in_runs_of(each);
        run_by_channel(each, a, part(each.b), parts, runs < outside.size() ? &outside[runs] : nullptr, at, to,
                       n);
      }
    }
    at += n;
  }
}

}  // namespace grurun::engine
