// Run steps that hold a chain of element-wise operations: one by itself, and matrix products with one behind
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/graph/plan.h"
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

/// What becomes of whole rows of a product once their sums are complete: called with runs of them, on any
/// thread.
using ProductTail = std::function<void(float* values, std::int64_t n)>;

/// A product by a constant float32 matrix of N columns, whose result is float32.
struct ProductStep {
  std::function<void(RunContext&, const ProductTail&)> product;
  std::int64_t N = 0;
  ProductTail tail = {};

  void operator()(RunContext& run) const { product(run, tail); }
};

}  // namespace grurun::engine
