// The negative log likelihood of the right classes, which two losses end in.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/graph/op_context.h"
#include "tensor/tensor.h"

namespace grurun::engine {

struct NegativeLogLikelihood {
  enum class Reduction { none, sum, mean };

  Reduction reduction = Reduction::mean;
  std::optional<std::int64_t> ignore_index;

  /// Reads reduction and ignore_index.
  static NegativeLogLikelihood read(PrepareContext& node);

  /// loss = -log_prob[n][target[n][d]][d] * weight[target[n][d]], 0 where the target is ignore_index; then
  /// the sum, or the sum over that of the weights, 1 each without `weight`.
  ///
  /// log_prob [N, C, d_1 ... d_k] of float, double or a 16-bit float, target [N, d_1 ... d_k] of int32 or
  /// int64, weight [C] or nullptr. The loss is [N, d_1 ... d_k], or a scalar. Refuses
  /// other shapes and for a target that is no class.
  Tensor loss(const Tensor& log_prob, const Tensor& target, const Tensor* weight) const;
};

}  // namespace grurun::engine
