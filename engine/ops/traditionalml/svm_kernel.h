// The kernels of SVMClassifier and SVMRegressor.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/kernels/vec/ordered_sums.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

class PrepareContext;
class RunContext;

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

  /// The kernel of each row of a and each column of b, whatever function `sums` names.
  void compute(kernels::OrderedSums sums) const;
};

/// Degrees up to 16 that are whole are raised to by products, which pow takes many times as long for.
bool is_small_power(double degree);

/// kernel_type and kernel_params [gamma, coef0, degree], which are 0 where the attribute is left out.
SvmKernel svm_kernel_attributes(PrepareContext& node);

/// Vectors of equal length, feature by feature.
class SvmVectors {
 public:
  SvmVectors() = default;
  /// values [count, width]
  SvmVectors(std::span<const float> values, std::int64_t count);

  /// Vector k is the sum over the vectors v from begin on, before end, of weights[k, v - begin] * v, those of
  /// a k being weights_step apart from the next one's: what all of them come to where the kernel is linear.
  SvmVectors combined(std::int64_t begin, std::int64_t end, const float* weights, std::int64_t weights_step,
                      std::int64_t count) const;

  bool are_floats() const { return are_floats_; }  // or doubles that no float holds
  std::int64_t count() const { return count_; }
  std::int64_t width() const { return width_; }
  std::int64_t step() const { return step_; }              // from one feature's values to the next one's
  const double* data() const { return features_.data(); }  // [width, step], of which count are vectors

 private:
  SvmVectors(std::int64_t count, std::int64_t width);

  std::int64_t count_ = 0, width_ = 0, step_ = 0;
  bool are_floats_ = false;
  std::vector<double> features_;
};

/// Whether n values are finite. Of others no sum over vectors may be brought forward: it could be NaN.
bool all_finite(const double* x, std::int64_t n);

/// How alike some rows of X are to vectors of a model. All sums are of double, their terms in order.
class Likeness {
 public:
  /// Rows that are computed together, and vectors: values of so many stay in the first cache.
  static constexpr std::int64_t most_rows = 32, most_vectors = 64;
  /// Of fewer rows, a vector register holds sums of several vectors of the model, else of several rows.
  static constexpr std::int64_t few_rows = 4;

  /// x [rows, width] for up to most_rows rows, which were floats or not; all must outlive this.
  Likeness(const SvmKernel& kernel, const SvmVectors& vectors, const double* x, std::int64_t rows,
           bool are_floats);

  /// sums[k, row] += the sum over the vectors v from begin on, before end, of weights[k, v - begin] *
  /// likeness, in this order, for each row and k < count. Those of a k are weights_step apart from the next
  /// one's; sums [count, most_rows].
  void add_weighted(std::int64_t begin, std::int64_t end, const float* weights, std::int64_t weights_step,
                    std::int64_t count, double* sums) const;

 private:
  void compute(std::int64_t begin, std::int64_t end, double* values) const;

  const SvmKernel& kernel_;
  const SvmVectors& vectors_;
  const double* x_;
  std::int64_t rows_, row_step_ = 0;
  bool vectors_together_, exact_products_;
  ScratchVector<double> features_;  // [width, row_step], where several rows are taken together
};

/// some(first, count) for blocks of up to Likeness::most_rows rows that cover [0, rows), on any thread.
void for_row_blocks(RunContext& run, std::int64_t rows,
                    const std::function<void(std::int64_t first, std::int64_t count)>& some);

}  // namespace grurun::engine
