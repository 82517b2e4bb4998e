#include "engine/ops/traditionalml/svm_tangents.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/kernels/machine/simd.h"
#include "engine/kernels/vec/logistic_sums.h"

namespace grurun::engine {

namespace {

constexpr double twice_log2_of_e = 0x1.71547652b82fep+1;

}  // namespace

SvmTangents::SvmTangents(const SvmKernel& kernel, const SvmVectors& vectors, std::span<const float> weights) {
  if (kernel.kind != SvmKernel::Kind::sigmoid) return;
  count_ = vectors.count();
  width_ = vectors.width();
  step_ = vectors.step();
  offset_ = twice_log2_of_e * kernel.coef0;
  // Rows are mostly as large as vectors are. The error goes by the squares of both: each has half of gamma,
  // the vectors a power of two.
  const double scale = twice_log2_of_e * kernel.gamma;
  const double of_vectors = scale == 0 ? 1 : std::ldexp(1, std::ilogb(scale) / 2);
  scale_of_x_ = scale / of_vectors;
  vectors_.assign(vectors.data(), vectors.data() + width_ * step_);
  for (double& value : vectors_) value *= of_vectors;
  for (std::int64_t v = 0; v < count_; ++v) {
    double squares = 0;
    for (std::int64_t f = 0; f < width_; ++f) {
      const double value = vectors_[static_cast<std::size_t>(f * step_ + v)];
      squares += value * value;
    }
    most_squares_ = std::max(most_squares_, squares);
  }
  weights_.resize(static_cast<std::size_t>(step_));
  for (std::int64_t v = 0; v < count_; ++v) {
    const auto weight = static_cast<double>(weights[static_cast<std::size_t>(v)]);
    weights_[static_cast<std::size_t>(v)] = -2 * weight;
    sum_of_weights_ += weight;
    magnitude_ += std::fabs(weight);
  }
}

void SvmTangents::add_sums(const double* x, std::int64_t rows, double* sums, double* errors) const {
  constexpr std::int64_t most_rows = Likeness::most_rows;
  static_assert(most_rows % kernels::logistic_step == 0);
  ScratchVector<double> features(static_cast<std::size_t>(width_ * most_rows), 0.0);
  double made[most_rows];
  std::ranges::fill(made, sum_of_weights_);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t f = 0; f < width_; ++f)
      features[static_cast<std::size_t>(f * most_rows + row)] = scale_of_x_ * x[row * width_ + f];
  }
  double squares[most_rows] = {};
  for (std::int64_t f = 0; f < width_; ++f) {
    const double* const of_feature = features.data() + f * most_rows;
    for (std::int64_t row = 0; row < most_rows; ++row) squares[row] += of_feature[row] * of_feature[row];
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    // Tangents are twice the logistic functions, and those of the other way have an error, too. Either way
    // rounds each of its additions by half a unit of what is up to three times the magnitude.
    errors[row] = magnitude_ * 3 * kernels::logistic_error(width_, offset_, squares[row], most_squares_) +
                  0x1p-50 * static_cast<double>(count_ + 8) * (magnitude_ + std::fabs(sums[row]));
  }
  kernels::LogisticSums of{vectors_.data(), step_, features.data(), most_rows, weights_.data(), made,
                           count_,          rows,  width_,          offset_};
  if (rows < Likeness::few_rows) {  // a vector register then holds several vectors of the model
    std::swap(of.a, of.b);
    std::swap(of.a_step, of.b_step);
    std::swap(of.rows, of.columns);
    of.weighs_columns = true;
  } else {
    of.in_pairs = kernels::made_by_amd();  // whose processors add beside multiplications
  }
  kernels::add_logistic_sums(of);
  for (std::int64_t row = 0; row < rows; ++row) sums[row] += made[row];
}

}  // namespace grurun::engine
