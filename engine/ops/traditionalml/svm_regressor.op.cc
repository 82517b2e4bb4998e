// SVMRegressor (ai.onnx.ml 1).
//
// With n_supports support vectors v_j of F features:
//   s = sum_j coefficients[j] * kernel(x, v_j) + rho[0]
// and without, coefficients [F] being the weights of a linear model, whatever kernel_type says:
//   s = x . coefficients + rho[0]
// Y [N, 1] = post_transform(s); with one_class, 1 where s > 0 and else -1.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/feature_rows.h"
#include "engine/ops/traditionalml/post_transform.h"
#include "engine/ops/traditionalml/svm_kernel.h"
#include "engine/ops/traditionalml/svm_polynomial.h"
#include "engine/ops/traditionalml/svm_tangents.h"

namespace grurun::engine {

namespace {

struct SvmRegressor {
  SvmKernel kernel;
  SvmVectors vectors;
  std::vector<float> coefficients;  // one for each vector
  SvmVectors combined;              // of all vectors, where the kernel is linear
  SvmPolynomial polynomial;         // likewise, where it is a polynomial
  SvmTangents tangents;             // likewise, where it is SIGMOID
  double rho = 0;
  bool one_class = false;
  PostTransform transform = PostTransform::none;

  float output(double y) const {
    if (one_class) return y > 0 ? 1.0F : -1.0F;
    apply_post_transform(transform, {&y, 1});
    return static_cast<float>(y);
  }

  void run(RunContext& run) const;
  void read_quick_ways();
  void add_all(const double* x, std::int64_t rows, bool are_floats, double* sums) const;
  void add_quickly(const double* x, std::int64_t rows, bool are_floats, double* sums) const;
};

/// Those of a result that is rounded, or whose sign is taken: functions that are the same between two numbers
/// where they are the same at both.
void SvmRegressor::read_quick_ways() {
  if (transform != PostTransform::none) return;
  polynomial = SvmPolynomial(kernel, vectors, coefficients);
  tangents = SvmTangents(kernel, vectors, coefficients);
}

/// The sum over all vectors, one after the other.
void SvmRegressor::add_all(const double* x, std::int64_t rows, bool are_floats, double* sums) const {
  Likeness(kernel, vectors, x, rows, are_floats)
      .add_weighted(0, vectors.count(), coefficients.data(), 0, 1, sums);
}

/// The quick way, and the other one for rows whose output could differ by that.
void SvmRegressor::add_quickly(const double* x, std::int64_t rows, bool are_floats, double* sums) const {
  double errors[Likeness::most_rows], again[Likeness::most_rows];
  if (polynomial.empty()) {
    tangents.add_sums(x, rows, sums, errors);
  } else {
    polynomial.add_sums(x, rows, sums, errors);
  }
  const auto bits = [&](double y) { return std::bit_cast<std::uint32_t>(output(y)); };
  ScratchVector<double> doubtful;
  std::int64_t place[Likeness::most_rows], count = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double error = errors[row];
    if (std::isfinite(sums[row]) && std::isfinite(error) &&
        bits(sums[row] - error) == bits(sums[row] + error))
      continue;
    doubtful.insert(doubtful.end(), x + row * vectors.width(), x + (row + 1) * vectors.width());
    place[count++] = row;
  }
  if (count == 0) return;
  std::fill_n(again, count, rho);
  add_all(doubtful.data(), count, are_floats, again);
  for (std::int64_t i = 0; i < count; ++i) sums[place[i]] = again[i];
}

void SvmRegressor::run(RunContext& run) const {
  const Tensor& x = run.tensor(0);
  const FeatureRows rows = feature_rows(x, vectors.width());
  const bool are_floats = x.dtype() == DType::float32;
  const Tensor wide = cast_tensor(x, DType::float64);
  const double* features = wide.data<double>();
  float* y = run.output(0, DType::float32, Shape{rows.count, 1}).mutable_data<float>();
  for_row_blocks(run, rows.count, [&](std::int64_t first, std::int64_t count) {
    const double* const block = features + first * rows.width;
    double sums[Likeness::most_rows];
    std::ranges::fill(sums, rho);
    if (combined.count() != 0 && all_finite(block, count * rows.width)) {
      constexpr float one = 1;
      Likeness(kernel, combined, block, count, are_floats).add_weighted(0, 1, &one, 0, 1, sums);
    } else if (!polynomial.empty() || !tangents.empty()) {
      add_quickly(block, count, are_floats, sums);
    } else {
      add_all(block, count, are_floats, sums);
    }
    std::transform(sums, sums + count, y + first, [&](double sum) { return output(sum); });
  });
}

SvmRegressor read_attributes(PrepareContext& node) {
  SvmRegressor read;
  read.kernel = svm_kernel_attributes(node);
  read.transform = post_transform_attribute(node);
  read.one_class = node.int_attribute("one_class", 0) != 0;
  if (read.one_class && read.transform != PostTransform::none) {
    fail_unsupported("post_transform with one_class: whether it takes the score or its sign is not said");
  }
  const std::vector<float> rho = node.floats_attribute("rho");
  if (rho.size() != 1) refuse();
  read.rho = static_cast<double>(rho.front());
  const std::int64_t supports = node.int_attribute("n_supports", 0);
  read.coefficients = node.floats_attribute("coefficients");
  const std::vector<float> vectors = node.floats_attribute("support_vectors");
  if (supports == 0) {
    read.kernel = {};
    read.vectors = SvmVectors(read.coefficients, 1);
    read.coefficients = {1.0F};
    return read;
  }
  read.vectors = SvmVectors(vectors, supports);
  if (read.kernel.kind == SvmKernel::Kind::linear)
    read.combined = read.vectors.combined(0, supports, read.coefficients.data(), 0, 1);
  read.read_quick_ways();
  return read;
}

RunFunction prepare_svm_regressor(PrepareContext& node) {
  return [regressor = read_attributes(node)](RunContext& run) { regressor.run(run); };
}

}  // namespace

std::vector<OpRow> op_rows_svm_regressor() {
  return {{"ai.onnx.ml", "SVMRegressor", {1}, prepare_svm_regressor}};
}

}  // namespace grurun::engine
