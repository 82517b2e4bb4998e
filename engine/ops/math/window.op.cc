// HannWindow, HammingWindow, BlackmanWindow (ai.onnx 17).
//
//   output[i] = a0 - a1 * cos(2 pi i / M) + a2 * cos(4 pi i / M) for i in [0, size)
//
//               a0      a1      a2
//   Hann        1/2     1/2     0
//   Hamming     25/46   21/46   0
//   Blackman    0.42    0.5     0.08
//
// M is size where periodic is 1, the default, else size - 1. Computed in double and converted once to
// output_datatype (default float), integers by cutting the fraction off.
#include <cmath>
#include <numbers>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/dtype_attribute.h"
#include "engine/ops/shared/integer_list.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct Coefficients {
  double a0, a1, a2;
};

constexpr Coefficients hann{0.5, 0.5, 0}, hamming{25.0 / 46, 21.0 / 46, 0}, blackman{0.42, 0.5, 0.08};

Tensor window(RunContext& run, const Coefficients& a, std::int64_t size, bool periodic) {
  constexpr std::int64_t piece = 1 << 20;
  Tensor out(DType::float64, Shape{size});
  double* to = out.mutable_data<double>();
  const double step = 2 * std::numbers::pi / static_cast<double>(periodic ? size : size - 1);
  for (std::int64_t first = 0; first < size; first += piece) {
    run.check_limits();
    kernels::parallel_for(std::min(piece, size - first), 1024, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = first + begin; i < first + end; ++i) {
        const double angle = static_cast<double>(i) * step;
        to[i] = a.a0 - a.a1 * std::cos(angle) + a.a2 * std::cos(2 * angle);
      }
    });
  }
  return out;
}

template <const Coefficients& coefficients>
RunFunction prepare_window(PrepareContext& node) {
  const bool periodic = node.flag_attribute("periodic", true);
  const DType dtype = dtype_attribute(node, "output_datatype", Numbers::set).value_or(DType::float32);
  return [=](RunContext& run) {
    const std::int64_t size = integer_scalar(run.tensor(0));
    if (size < 1 || run.tensor(0).rank() != 0) refuse();
    run.set_output(0, cast_tensor(window(run, coefficients, size, periodic), dtype));
  };
}

}  // namespace

std::vector<OpRow> op_rows_window() {
  return {{"", "HannWindow", {17}, prepare_window<hann>},
          {"", "HammingWindow", {17}, prepare_window<hamming>},
          {"", "BlackmanWindow", {17}, prepare_window<blackman>}};
}

}  // namespace grurun::engine
