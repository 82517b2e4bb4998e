// MelWeightMatrix (ai.onnx 17).
//
//   output [dft_length / 2 + 1, num_mel_bins]: column m is a triangle over the bins of a spectrum, 1 in its
//   middle
//
// Edges of the triangles lie evenly on the mel scale, mel(f) = 2595 log10(1 + f / 700), from lower_edge_hertz
// on, in steps of (mel(upper) - mel(lower)) / (num_mel_bins + 2); an edge at f hertz is bin floor((dft_length
// + 1) f / sample_rate). Triangle m rises from edge m to edge m + 1 and falls to edge m + 2. The text gives
// the scale and the peak; steps and rounding are those of ONNX's own cases. What lies beyond the last bin is
// left out. Computed in double, then converted to output_datatype (integers: truncated).
#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/dtype_attribute.h"
#include "engine/ops/shared/integer_list.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct MelScale {
  std::int64_t num_mel_bins;
  std::int64_t dft_length;
  std::int64_t sample_rate;
  double lower, upper;  // hertz

  /// The spectrum's bin of edge i, a whole number that may lie beyond the last bin.
  double edge(std::int64_t i) const {
    const double lowest = 2595 * std::log10(1 + lower / 700);
    const double highest = 2595 * std::log10(1 + upper / 700);
    const double step = (highest - lowest) / (static_cast<double>(num_mel_bins) + 2);
    const double hertz = 700 * (std::pow(10.0, (lowest + static_cast<double>(i) * step) / 2595) - 1);
    return std::floor((static_cast<double>(dft_length) + 1) * hertz / static_cast<double>(sample_rate));
  }
};

double hertz(const Tensor& tensor) {
  if (tensor.size() != 1) refuse();
  const double value = dispatch(Floats{}, tensor.dtype(),
                                [&]<typename T>() { return static_cast<double>(*tensor.data<T>()); });
  if (!std::isfinite(value) || value < 0) refuse();
  return value;
}

MelScale read_scale(RunContext& run) {
  if (run.tensor(0).rank() != 0 || run.tensor(1).rank() != 0) refuse();
  const MelScale scale{.num_mel_bins = integer_scalar(run.tensor(0)),
                       .dft_length = integer_scalar(run.tensor(1)),
                       .sample_rate = integer_scalar(run.tensor(2)),
                       .lower = hertz(run.tensor(3)),
                       .upper = hertz(run.tensor(4))};
  if (scale.num_mel_bins < 0 || scale.dft_length < 0 || scale.sample_rate < 1 || scale.upper < scale.lower)
    refuse();
  return scale;
}

template <typename T>
void fill_triangle(const MelScale& scale, std::int64_t mel, std::int64_t rows, T* column) {
  const double left = scale.edge(mel), middle = scale.edge(mel + 1), right = scale.edge(mel + 2);
  const auto first = static_cast<std::int64_t>(std::min(left, static_cast<double>(rows)));
  for (std::int64_t row = first; row < rows; ++row) {
    const auto bin = static_cast<double>(row);
    if (bin > middle && bin >= right) break;
    const double weight = bin < middle   ? (bin - left) / (middle - left)
                          : bin > middle ? (right - bin) / (right - middle)
                                         : 1;
    column[row * scale.num_mel_bins] = static_cast<T>(weight);
  }
}

RunFunction prepare_mel_weight_matrix(PrepareContext& node) {
  const DType dtype = dtype_attribute(node, "output_datatype", Numbers::set).value_or(DType::float32);
  return [dtype](RunContext& run) {
    const MelScale scale = read_scale(run);
    const std::int64_t rows = scale.dft_length / 2 + 1;
    Tensor output = Tensor::zeros(dtype, {rows, scale.num_mel_bins});
    dispatch(Numbers{}, dtype, [&]<typename T>() {
      T* to = output.mutable_data<T>();
      for (std::int64_t mel = 0; mel < scale.num_mel_bins; ++mel) fill_triangle(scale, mel, rows, to + mel);
    });
    run.set_output(0, std::move(output));
  };
}

}  // namespace

std::vector<OpRow> op_rows_mel_weight_matrix() {
  return {{"", "MelWeightMatrix", {17}, prepare_mel_weight_matrix}};
}

}  // namespace grurun::engine
