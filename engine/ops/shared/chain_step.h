// What the steps of a plan can be in a chain of element-wise operations, and the step that runs such a chain.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>

#include "engine/graph/plan.h"
#include "engine/ops/shared/channel_places.h"
#include "engine/ops/shared/elementwise_chain.h"

namespace grurun::engine {

/// A chain whose values from outside are the step's inputs, each once. Where these are float32 and broadcast
/// to the largest of them in a way that a ChainSource can tell, the chain runs; otherwise the steps that it
/// stands for run one after the other, as a body with the same inputs.
struct ChainStep {
  ElementwiseChain chain;
  std::size_t constant_rank = 0;  // the most dimensions of a constant: the result has no fewer
  std::shared_ptr<const Plan> apart;

  void operator()(RunContext& run) const;

 private:
  bool run_fused(RunContext& run) const;
};

/// What becomes of elements of a result once they are complete: called with runs of them, on any thread.
using ChainTail = std::function<void(float* values, std::int64_t n, ChannelPlaces at)>;

/// A step, such as a product, on whose result a chain may follow while it is in the cache.
struct ChainHead {
  std::size_t least_rank = 0;  // dimensions that the result, of float32, has at least
  std::int64_t channels = 0;   // of the result,
  std::size_t behind = 0;      // with so many dimensions behind them; if any, they are its axis 1
  std::function<RunFunction(ChainTail)> with_tail;
};

/// y = (x - mean) * factor + shift by channel, axis 1. Each is float32 [channels].
struct ChannelStep {
  Tensor mean, factor, shift;
};

/// What a step can be in a chain.
struct ChainPart {
  std::variant<UnaryStep, BinaryStep, ChannelStep, ChainHead> as;
};

/// The step of a head without a tail, which may get one.
RunFunction chain_head(ChainHead head);

/// A step by channel that may follow on a head.
RunFunction chain_part(RunFunction alone, ChannelStep step);

}  // namespace grurun::engine
