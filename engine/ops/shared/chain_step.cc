#include "engine/ops/shared/chain_step.h"

#include <array>
#include <utility>
#include <vector>

#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/broadcast.h"

namespace grurun::engine {

namespace {

using Kind = ChainOperand::Kind;
using Sources = std::array<ChainSource, ElementwiseChain::most_outside>;

// How elements of a tensor of shape `own` are read along `whole`, to which it must broadcast: those of some
// dimensions that follow each other, again and again. False where that is not so.
bool place_in(const Shape& own, const Shape& whole, ChainSource& source) {
  if (own.rank() > whole.rank()) return false;
  const std::size_t ahead = whole.rank() - own.rank();
  bool inside = false;
  bool passed = false;
  for (std::size_t back = own.rank(); back-- > 0;) {
    const std::int64_t extent = whole[ahead + back];
    if (extent == 1 && own[back] == 1) continue;
    if (own[back] == extent) {
      if (passed) return false;
      inside = true;
      source.extent *= extent;
    } else if (own[back] == 1) {
      passed = inside;
      if (!inside) source.inner *= extent;
    } else {
      return false;
    }
  }
  return true;
}

// Every operation reads at least one value that has all elements of the result: none is computed more than
// once.
bool each_is_whole(const ElementwiseChain& chain, const Sources& sources, std::int64_t size) {
  const auto whole = [&](const ChainOperand& o) {
    return o.kind == Kind::made || (o.kind == Kind::outside && sources[o.index].extent == size);
  };
  for (const ChainOperation& each : chain.operations()) {
    if (!whole(each.a) && (each.unary != nullptr || !whole(each.b))) return false;
  }
  return true;
}

}  // namespace

RunFunction chain_part(UnaryStep step) {
  return {step, std::make_shared<ChainPart>(ChainPart{step})};
}

RunFunction chain_part(BinaryStep step) {
  return {step, std::make_shared<ChainPart>(ChainPart{step})};
}

RunFunction chain_part(RunFunction alone, ChannelStep step) {
  return {std::move(alone), std::make_shared<ChainPart>(ChainPart{std::move(step)})};
}

RunFunction chain_head(ChainHead head) {
  RunFunction alone = head.with_tail({});
  return {std::move(alone), std::make_shared<ChainPart>(ChainPart{std::move(head)})};
}

bool ChainStep::run_fused(RunContext& run) const {
  const std::size_t count = run.input_count();
  Sources sources;
  const Tensor* largest = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (!run.has_input(i) || !run.input(i).is_tensor()) return false;
    const Tensor& tensor = run.tensor(i);
    if (tensor.dtype() != DType::float32) return false;
    if (largest == nullptr || tensor.size() > largest->size() ||
        (tensor.size() == largest->size() && tensor.rank() > largest->rank())) {
      largest = &tensor;
    }
    sources[i].data = tensor.data<float>();
  }
  const Shape shape = largest->shape();
  const std::int64_t size = largest->size();
  if (size == 0 || shape.rank() < constant_rank) return false;
  std::array<bool, ElementwiseChain::most_outside> same_shape{};
  for (std::size_t i = 0; i < count; ++i) {
    same_shape[i] = run.tensor(i).shape() == shape;
    if (same_shape[i]) {
      sources[i].extent = size;
    } else if (!place_in(run.tensor(i).shape(), shape, sources[i])) {
      return false;
    }
  }
  if (!each_is_whole(chain, sources, size)) return false;

  // The result is written over an input that nobody else needs, if there is one.
  std::array<Tensor, ElementwiseChain::most_outside> taken;
  float* y = nullptr;
  for (std::size_t i = 0; i < count && y == nullptr; ++i) {
    if (!same_shape[i]) continue;
    taken[i] = run.take_tensor(i);
    if (!taken[i].unique()) continue;
    y = taken[i].mutable_data<float>();
    sources[i].data = y;
    run.set_output(0, std::move(taken[i]));
  }
  if (y == nullptr) y = run.output(0, DType::float32, shape).mutable_data<float>();
  kernels::parallel_for(size, elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
    chain.run(std::span(sources).first(count), y, begin, end);
  });
  return true;
}

void ChainStep::operator()(RunContext& run) const {
  if (run_fused(run)) return;
  Values inputs;
  inputs.reserve(run.input_count());
  for (std::size_t i = 0; i < run.input_count(); ++i) {
    if (!run.has_input(i)) {
      inputs.emplace_back();
    } else if (run.input(i).is_tensor()) {
      inputs.emplace_back(run.take_tensor(i));
    } else {
      inputs.push_back(run.input(i));
    }
  }
  run.set_output(0, std::move(run.run_subgraph(*apart, std::move(inputs)).front()));
}

}  // namespace grurun::engine
