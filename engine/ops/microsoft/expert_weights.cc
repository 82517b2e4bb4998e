#include "engine/ops/microsoft/expert_weights.h"

#include <algorithm>

#include "engine/kernels/gemm/gemm.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

void require_shape(const Tensor& tensor, const Shape& wanted) {
  if (tensor.shape() == wanted) return;
  refuse();
}

}  // namespace

Projection::Projection(RunContext& run, const char* name, const PackedWeights& packed, std::size_t weights,
                       std::optional<std::size_t> bias, std::optional<std::size_t> scales,
                       std::optional<std::size_t> zero_points, std::int64_t experts, std::int64_t columns)
    : packed_(packed), columns_(columns) {
  const Tensor& given = run.tensor(weights);
  if (given.rank() != 3) refuse();
  rows_ = given.dim(1);
  const std::int64_t bits = checked_mul(columns, packed.bits);
  if (bits % 8 != 0) fail_unsupported("{}_experts_weights with rows of {} bits, no whole bytes", name, bits);
  require_shape(given, {experts, rows_, packed.bits == 0 ? columns : bits / 8});
  weights_ = packed.bits == 0 ? widened<float>(given) : given;
  if (bias && run.has_input(*bias)) {
    require_shape(run.tensor(*bias), {experts, rows_});
    bias_ = widened<float>(run.tensor(*bias));
  }
  if (packed.bits == 0) return;
  if (!scales || !run.has_input(*scales)) refuse();
  const std::int64_t size = packed.block_size;
  if (size > 0 && columns % size != 0) refuse();
  const std::int64_t blocks = size > 0 ? columns / size : 1;
  const Tensor& steps = run.tensor(*scales);
  const bool for_rows = blocks == 1 && steps.rank() == 2;
  require_shape(steps, for_rows ? Shape{experts, rows_} : Shape{experts, rows_, blocks});
  scales_ = widened<float>(steps);
  if (!zero_points || !run.has_input(*zero_points)) return;
  zero_points_ = run.tensor(*zero_points);
  const auto bytes = [&](std::int64_t count) { return (count * packed.bits + 7) / 8; };
  require_shape(zero_points_, size > 0 ? Shape{experts, rows_, bytes(blocks)} : Shape{experts, bytes(rows_)});
}

// Number i of a row of codes.
int Projection::code(const Tensor& codes, std::int64_t row, std::int64_t row_bytes, std::int64_t i) const {
  const std::int64_t bit = i * packed_.bits;
  return codes.data<std::uint8_t>()[row * row_bytes + bit / 8] >> (bit % 8) & ((1 << packed_.bits) - 1);
}

const float* Projection::matrix(std::int64_t expert, std::vector<float>& buffer) const {
  if (packed_.bits == 0) return weights_.data<float>() + expert * rows_ * columns_;
  buffer.resize(static_cast<std::size_t>(rows_ * columns_));
  const std::int64_t size = packed_.block_size > 0 ? packed_.block_size : columns_;
  const std::int64_t blocks = columns_ / size;
  float* to = buffer.data();
  for (std::int64_t r = 0; r < rows_; ++r) {
    const std::int64_t row = expert * rows_ + r;
    for (std::int64_t b = 0; b < blocks; ++b) {
      int zero = 1 << (packed_.bits - 1);
      if (zero_points_.defined()) {
        zero = packed_.block_size > 0 ? code(zero_points_, row, zero_points_.dim(2), b)
                                      : code(zero_points_, expert, zero_points_.dim(1), r);
      }
      const float step = scales_.data<float>()[row * blocks + b];
      for (std::int64_t i = b * size; i < (b + 1) * size; ++i)
        *to++ = step * static_cast<float>(code(weights_, row, weights_.dim(2), i) - zero);
    }
  }
  return buffer.data();
}

void Projection::multiply(std::int64_t expert, const float* x, std::int64_t tokens,
                          std::vector<float>& y) const {
  std::vector<float> buffer;
  const float* W = matrix(expert, buffer);
  y.resize(static_cast<std::size_t>(tokens * rows_));
  for (std::int64_t t = 0; bias_.defined() && t < tokens; ++t)
    std::copy_n(bias_.data<float>() + expert * rows_, rows_, y.begin() + t * rows_);
  kernels::gemm<float>(tokens, rows_, columns_, 1.0f, {x, columns_}, {W, columns_, true},
                       bias_.defined() ? 1.0f : 0.0f, y.data(), rows_);
}

}  // namespace grurun::engine
