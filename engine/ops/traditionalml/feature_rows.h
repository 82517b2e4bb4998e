// Observations as the operators of ai.onnx.ml take them.
#pragma once

#include <cstdint>

#include "engine/ops/shared/cast.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// X [N, F] is N rows of F features; X [F] is one row.
struct FeatureRows {
  std::int64_t count;  // N
  std::int64_t width;  // F
};

/// Throws Error(invalid_model) for another rank.
inline FeatureRows feature_rows(const Tensor& x) {
  if (x.rank() == 1) return {1, x.dim(0)};
  if (x.rank() == 2) return {x.dim(0), x.dim(1)};
  fail_invalid("X must be [N,F] or [F], but has shape {}", x.shape().to_string());
}

/// The same of a model of so many features; Error(invalid_model) for another number.
inline FeatureRows feature_rows(const Tensor& x, std::int64_t width) {
  const FeatureRows rows = feature_rows(x);
  if (rows.width != width) fail_invalid("X has {} features, but the model is of {}", rows.width, width);
  return rows;
}

}  // namespace grurun::engine
