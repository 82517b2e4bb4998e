// The kernels of SVMClassifier and SVMRegressor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace grurun::engine {

class PrepareContext;

/// How alike two vectors are:
///   LINEAR   a . b
///   POLY     (gamma * a . b + coef0) ^ degree
///   RBF      exp(-gamma * |a - b|^2)
///   SIGMOID  tanh(gamma * a . b + coef0)
struct SvmKernel {
  enum class Kind { linear, poly, rbf, sigmoid };

  Kind kind = Kind::linear;
  double gamma = 0;
  double coef0 = 0;
  double degree = 0;

  double operator()(std::span<const double> a, std::span<const float> b) const;
};

/// kernel_type and kernel_params [gamma, coef0, degree], which are 0 where the attribute is left out.
SvmKernel svm_kernel_attributes(PrepareContext& node);

/// Vectors of equal length, one after the other.
struct SvmVectors {
  std::vector<float> values;
  std::int64_t count = 0;

  std::int64_t width() const { return count == 0 ? 0 : static_cast<std::int64_t>(values.size()) / count; }
  std::span<const float> operator[](std::int64_t i) const {
    const auto w = static_cast<std::size_t>(width());
    return std::span(values).subspan(static_cast<std::size_t>(i) * w, w);
  }
};

}  // namespace grurun::engine
