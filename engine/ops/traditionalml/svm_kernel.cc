#include "engine/ops/traditionalml/svm_kernel.h"

#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"

namespace grurun::engine {

namespace {

SvmKernel::Kind parse_kind(const std::string& name) {
  if (name == "LINEAR") return SvmKernel::Kind::linear;
  if (name == "POLY") return SvmKernel::Kind::poly;
  if (name == "RBF") return SvmKernel::Kind::rbf;
  return SvmKernel::Kind::sigmoid;
}

std::int64_t whole_steps(std::int64_t n) {
  constexpr std::int64_t step = kernels::ordered_sums_step;
  return (n + step - 1) / step * step;
}

/// An odd number of lines of the cache: a multiple of its size would put all features into a few places of
/// it.
std::int64_t step_of_features(std::int64_t count) {
  const std::int64_t step = whole_steps(count);
  return step % (2 * kernels::ordered_sums_step) == 0 ? step + kernels::ordered_sums_step : step;
}

}  // namespace

bool is_small_power(double degree) {
  constexpr double most = 16;
  return degree >= 1 && degree <= most && std::floor(degree) == degree;
}

void SvmKernel::compute(kernels::OrderedSums sums) const {
  using kernels::SumFunction;
  sums.scale = kind == Kind::rbf ? -gamma : gamma;
  sums.offset = coef0;
  const bool by_pow = kind == Kind::poly && !is_small_power(degree);
  switch (kind) {
    case Kind::linear:
      break;
    case Kind::poly:
      sums.function = SumFunction::power;
      sums.exponent = by_pow ? 1 : static_cast<int>(degree);
      break;
    case Kind::rbf:
      sums.function = SumFunction::exponential;
      break;
    case Kind::sigmoid:
      sums.function = SumFunction::tangent;
      break;
  }
  kernels::ordered_sums(sums);
  if (!by_pow) return;
  for (std::int64_t row = 0; row < sums.rows; ++row) {
    double* const values = sums.y + row * sums.y_step;
    for (std::int64_t i = 0; i < sums.columns; ++i) values[i] = std::pow(values[i], degree);
  }
}

SvmKernel svm_kernel_attributes(PrepareContext& node) {
  SvmKernel kernel;
  kernel.kind = parse_kind(node.string_attribute("kernel_type", "LINEAR"));
  const std::vector<float> parameters = node.floats_attribute("kernel_params");
  if (parameters.empty()) return kernel;
  kernel.gamma = static_cast<double>(parameters[0]);
  kernel.coef0 = static_cast<double>(parameters[1]);
  kernel.degree = static_cast<double>(parameters[2]);
  return kernel;
}

SvmVectors::SvmVectors(std::int64_t count, std::int64_t width)
    : count_(count),
      width_(width),
      step_(step_of_features(count)),
      features_(static_cast<std::size_t>(checked_mul(width_, step_))) {}

SvmVectors::SvmVectors(std::span<const float> values, std::int64_t count)
    : SvmVectors(count, count == 0 ? 0 : static_cast<std::int64_t>(values.size()) / count) {
  are_floats_ = true;
  for (std::int64_t v = 0; v < count; ++v) {
    for (std::int64_t f = 0; f < width_; ++f) {
      features_[static_cast<std::size_t>(f * step_ + v)] =
          static_cast<double>(values[static_cast<std::size_t>(v * width_ + f)]);
    }
  }
}

SvmVectors SvmVectors::combined(std::int64_t begin, std::int64_t end, const float* weights,
                                std::int64_t weights_step, std::int64_t count) const {
  SvmVectors made(count, width_);
  for (std::int64_t f = 0; f < width_; ++f) {
    const double* const of_feature = data() + f * step_;
    for (std::int64_t k = 0; k < count; ++k) {
      double sum = 0;
      for (std::int64_t v = begin; v < end; ++v)
        sum += static_cast<double>(weights[k * weights_step + v - begin]) * of_feature[v];
      made.features_[static_cast<std::size_t>(f * made.step_ + k)] = sum;
    }
  }
  return made;
}

bool all_finite(const double* x, std::int64_t n) {
  double none = 0;
  for (std::int64_t i = 0; i < n; ++i) none += x[i] * 0;  // NaN of what is not finite
  return none == 0;
}

Likeness::Likeness(const SvmKernel& kernel, const SvmVectors& vectors, const double* x, std::int64_t rows,
                   bool are_floats)
    : kernel_(kernel),
      vectors_(vectors),
      x_(x),
      rows_(rows),
      vectors_together_(rows < few_rows),
      exact_products_(are_floats && vectors.are_floats()) {
  if (vectors_together_) return;
  row_step_ = whole_steps(rows);
  const std::int64_t width = vectors.width();
  features_.resize(static_cast<std::size_t>(width * row_step_));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t f = 0; f < width; ++f)
      features_[static_cast<std::size_t>(f * row_step_ + row)] = x[row * width + f];
  }
}

void Likeness::compute(std::int64_t begin, std::int64_t end, double* values) const {
  const std::int64_t width = vectors_.width(), step = vectors_.step();
  kernels::OrderedSums sums = vectors_together_ ? kernels::OrderedSums{x_,
                                                                       width,
                                                                       1,
                                                                       vectors_.data() + begin,
                                                                       step,
                                                                       values,
                                                                       most_vectors,
                                                                       rows_,
                                                                       end - begin,
                                                                       width}
                                                : kernels::OrderedSums{vectors_.data() + begin,
                                                                       1,
                                                                       step,
                                                                       features_.data(),
                                                                       row_step_,
                                                                       values,
                                                                       row_step_,
                                                                       end - begin,
                                                                       rows_,
                                                                       width};
  sums.has_exact_products = exact_products_;
  kernel_.compute(sums);
}

void Likeness::add_weighted(std::int64_t begin, std::int64_t end, const float* weights,
                            std::int64_t weights_step, std::int64_t count, double* sums) const {
  alignas(64) double values[most_vectors * most_rows];
  for (std::int64_t first = begin; first < end; first += most_vectors) {
    const std::int64_t last = std::min(end, first + most_vectors);
    compute(first, last, values);
    for (std::int64_t set = 0; set < count; ++set) {
      const float* const of_set = weights + set * weights_step + first - begin;
      double* const y = sums + set * most_rows;
      if (!vectors_together_) {
        kernels::add_weighted_rows(of_set, values, row_step_, last - first, rows_, y);
        continue;
      }
      for (std::int64_t row = 0; row < rows_; ++row) {
        for (std::int64_t v = 0; v < last - first; ++v)
          y[row] += static_cast<double>(of_set[v]) * values[row * most_vectors + v];
      }
    }
  }
}

void for_row_blocks(RunContext& run, std::int64_t rows,
                    const std::function<void(std::int64_t first, std::int64_t count)>& some) {
  constexpr std::int64_t rows_between_checks = 4096;  // the time limit is looked at
  for (std::int64_t from = 0; from < rows; from += rows_between_checks) {
    run.check_limits();
    const std::int64_t here = std::min(rows_between_checks, rows - from);
    kernels::parallel_for(here, Likeness::most_rows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t first = begin; first < end; first += Likeness::most_rows)
        some(from + first, std::min(Likeness::most_rows, end - first));
    });
  }
}

}  // namespace grurun::engine
