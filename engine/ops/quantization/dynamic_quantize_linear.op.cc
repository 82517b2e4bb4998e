// DynamicQuantizeLinear (ai.onnx 11): to uint8 over the range that x takes, widened to hold 0.
//
//   y_scale = (max(0, max(x)) - min(0, min(x))) / 255
//   y_zero_point = round(saturate(-min(0, min(x)) / y_scale))
//   y = saturate(round(x / y_scale) + y_zero_point)
//
// round goes to the nearest, ties to even. Where x is 0 throughout, the quotients do not exist: the range is
// taken to be 1, so that y_scale is 1 / 255 and the rest 0.
#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/quantization/dynamic_range.h"

namespace grurun::engine {

namespace {

RunFunction prepare_dynamic_quantize_linear(PrepareContext&) {
  return [](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const float* from = x.data<float>();
    const DynamicRange range = dynamic_range(from, x.size());
    Tensor& y = run.output(0, DType::uint8, x.shape());
    auto* to = y.mutable_data<std::uint8_t>();
    const kernels::Quantization<std::uint8_t> by{&range.scale, &range.zero_point, 0};
    kernels::parallel_for(x.size(), 32768, [&](std::int64_t begin, std::int64_t end) {
      kernels::vec_quantize(from + begin, by, to + begin, end - begin);
    });
    run.set_output(1, Tensor::scalar(range.scale));
    run.set_output(2, Tensor::scalar(range.zero_point));
  };
}

}  // namespace

std::vector<OpRow> op_rows_dynamic_quantize_linear() {
  return {{"", "DynamicQuantizeLinear", {11}, prepare_dynamic_quantize_linear}};
}

}  // namespace grurun::engine
