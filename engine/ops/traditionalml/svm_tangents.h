// An SVM with a SIGMOID kernel by logistic functions, which take half the time of tangents.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ops/traditionalml/svm_kernel.h"

namespace grurun::engine {

/// The sum over the vectors v of weights[v] * tanh(gamma x . v + coef0), nearly, as tanh(t) is
/// 1 - 2 / (1 + exp(2 t)).
class SvmTangents {
 public:
  /// Empty where the kernel is another one.
  SvmTangents() = default;
  SvmTangents(const SvmKernel& kernel, const SvmVectors& vectors, std::span<const float> weights);

  bool empty() const { return weights_.empty(); }

  /// sums[row] += the sum, for x [rows, width] of up to Likeness::most_rows rows. errors[row]: how far the
  /// sum is at most from the one that Likeness::add_weighted makes; infinite or NaN where that is not known.
  void add_sums(const double* x, std::int64_t rows, double* sums, double* errors) const;

 private:
  std::int64_t count_ = 0, width_ = 0, step_ = 0;
  std::vector<double> vectors_;  // [width, step], times a part of 2 log2(e) gamma
  double scale_of_x_ = 1;        // the other part
  double offset_ = 0;            // 2 log2(e) coef0
  double most_squares_ = 0;      // the largest sum of squares of one of vectors_
  std::vector<double> weights_;  // [step], of the logistic functions
  double sum_of_weights_ = 0;    // of the tangents
  double magnitude_ = 0;         // without their signs
};

}  // namespace grurun::engine
