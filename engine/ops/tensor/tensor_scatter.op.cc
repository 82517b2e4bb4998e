// TensorScatter (ai.onnx 24).
//
// present_cache is past_cache in which update [.., sequence_length, ..] stands on axis (default -2) from
// write_indices[batch] on (0 when omitted); mode circular wraps places at the axis' length. Axis 0 is the
// batch.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

void check_shapes(const Tensor& cache, const Tensor& update, std::size_t axis) {
  bool fits = cache.rank() == update.rank() && axis > 0;
  for (std::size_t d = 0; fits && d < cache.rank(); ++d) {
    fits = d == axis ? update.dim(d) <= cache.dim(d) : update.dim(d) == cache.dim(d);
  }
  if (!fits) refuse();
}

RunFunction prepare_tensor_scatter(PrepareContext& node) {
  const bool circular = node.string_attribute("mode", "linear") == "circular";
  const std::int64_t axis = node.int_attribute("axis", -2);
  return [axis, circular](RunContext& run) {
    const Tensor& update = run.tensor(1);
    const Tensor* starts = run.optional_tensor(2);
    Tensor out = run.take_tensor(0);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(out.rank())));
    check_shapes(out, update, at);
    const std::int64_t batch = out.dim(0);
    if (starts && (starts->rank() != 1 || starts->dim(0) != batch)) refuse();
    // Without write_indices nothing bounds an empty batch.
    if (update.size() == 0 && starts == nullptr) return run.set_output(0, std::move(out));
    const std::int64_t length = out.dim(at);
    const std::int64_t steps = update.dim(at);
    const std::int64_t rows = out.shape().count(1, at);
    const std::int64_t after = out.shape().count(at + 1, out.rank());
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t start = starts ? starts->data<std::int64_t>()[b] : 0;
      if (start < 0 || (!circular && start > length - steps)) refuse();
      if (update.size() == 0) continue;
      for (std::int64_t r = b * rows; r < (b + 1) * rows; ++r) {
        for (std::int64_t s = 0; s < steps; ++s) {
          const std::int64_t place = circular ? (start % length + s) % length : start + s;
          copy_elements(out, (r * length + place) * after, update, (r * steps + s) * after, after);
        }
      }
    }
    run.set_output(0, std::move(out));
  };
}

}  // namespace

std::vector<OpRow> op_rows_tensor_scatter() {
  return {{"", "TensorScatter", {24}, prepare_tensor_scatter}};
}

}  // namespace grurun::engine
