// Observations as the operators of ai.onnx.ml take them.
#pragma once

#include <cstdint>

#include "engine/graph/refusal.h"
#include "engine/ops/shared/cast.h"
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
  refuse();
}

/// The same of a model of so many features; Error(invalid_model) for another number.
inline FeatureRows feature_rows(const Tensor& x, std::int64_t width) {
  const FeatureRows rows = feature_rows(x);
  if (rows.width != width) refuse();
  return rows;
}

}  // namespace grurun::engine
