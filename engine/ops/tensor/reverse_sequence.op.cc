// ReverseSequence (ai.onnx 10, 28).
//
// For each batch row b, the first sequence_lens[b] elements along time_axis come in reverse order, the rest
// as they are. time_axis (default 0) and batch_axis (default 1) are 0 and 1 in either order.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

RunFunction prepare_reverse_sequence(PrepareContext& node) {
  const std::int64_t time_axis = node.int_attribute("time_axis", 0);
  const std::int64_t batch_axis = node.int_attribute("batch_axis", 1);
  if (!(time_axis == 0 && batch_axis == 1) && !(time_axis == 1 && batch_axis == 0)) refuse();
  return [time_axis](RunContext& run) {
    const Tensor& input = run.tensor(0);
    const Tensor& lens = run.tensor(1);
    if (input.rank() < 2) refuse();
    const std::int64_t time = input.dim(time_axis == 0 ? 0 : 1);
    const std::int64_t batch = input.dim(time_axis == 0 ? 1 : 0);
    const std::int64_t time_stride = time_axis == 0 ? batch : 1;
    const std::int64_t batch_stride = time_axis == 0 ? 1 : time;
    if (lens.rank() != 1 || lens.dim(0) != batch) refuse();
    const std::int64_t row = input.shape().count(2, input.rank());
    Tensor& out = run.output(0, input.dtype(), input.shape());
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t length = lens.data<std::int64_t>()[b];
      if (length < 0 || length > time) refuse();
      if (out.size() == 0) continue;
      for (std::int64_t t = 0; t < time; ++t) {
        const std::int64_t from = t < length ? length - 1 - t : t;
        copy_elements(out, (t * time_stride + b * batch_stride) * row, input,
                      (from * time_stride + b * batch_stride) * row, row);
      }
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_reverse_sequence() {
  return {{"", "ReverseSequence", {10, 28}, prepare_reverse_sequence}};
}

}  // namespace grurun::engine
