// The matrices of experts, for MoE and QMoE.
#pragma once

#include <optional>
#include <vector>

#include "engine/graph/op_context.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// How integers of a projection are packed: `bits` each, the lowest first; one step for a row, or for each
/// block_size elements of it where that is not 0.
struct PackedWeights {
  std::int64_t bits = 0;  // 0: not packed
  std::int64_t block_size = 0;
};

/// One projection of all experts: W [experts, rows, columns] and a bias [experts, rows].
class Projection {
 public:
  /// Inputs by their numbers; scales and zero points of packed weights alone. columns: what W multiplies.
  /// Throws Error(invalid_model) for shapes that do not fit; experts is checked where it is not 0.
  Projection(RunContext& run, const char* name, const PackedWeights& packed, std::size_t weights,
             std::optional<std::size_t> bias, std::optional<std::size_t> scales,
             std::optional<std::size_t> zero_points, std::int64_t experts, std::int64_t columns);

  std::int64_t rows() const { return rows_; }

  /// y [tokens, rows] = x [tokens, columns] * W(expert)^T + bias(expert).
  void multiply(std::int64_t expert, const float* x, std::int64_t tokens, std::vector<float>& y) const;

 private:
  const float* matrix(std::int64_t expert, std::vector<float>& buffer) const;
  int code(const Tensor& codes, std::int64_t row, std::int64_t row_bytes, std::int64_t i) const;

  PackedWeights packed_;
  std::int64_t rows_, columns_;
  Tensor weights_, bias_, scales_, zero_points_;  // in float, or bytes
};

}  // namespace grurun::engine
