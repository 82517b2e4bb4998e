// Shape (ai.onnx 1, 13, 15, 19, 21, 23, 24, 25) and Size (ai.onnx 1, 13, 19, 21, 23, 24, 25).
//
// Shape: the input's dimensions [start, end) as an int64 list; start and end (since 15) count from the end
// when negative and are clamped to the rank. Size: the number of elements as an int64 scalar.
#include <algorithm>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

RunFunction prepare_shape(PrepareContext& node) {
  const bool has_range = node.since_version() >= 15;
  const std::int64_t start = has_range ? node.int_attribute("start", 0) : 0;
  const std::int64_t end = has_range ? node.int_attribute("end", INT64_MAX) : INT64_MAX;
  return [start, end](RunContext& run) {
    const Shape& shape = run.tensor(0).shape();
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const auto clamped = [rank](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t first = clamped(start);
    const std::int64_t count = std::max<std::int64_t>(clamped(end) - first, 0);
    Tensor& out = run.output(0, DType::int64, Shape{count});
    std::copy_n(shape.begin() + first, count, out.mutable_data<std::int64_t>());
  };
}

RunFunction prepare_size(PrepareContext&) {
  return [](RunContext& run) { run.set_output(0, Tensor::scalar(run.tensor(0).size())); };
}

}  // namespace

std::vector<OpRow> op_rows_shape() {
  return {{"", "Shape", {1, 13, 15, 19, 21, 23, 24, 25}, prepare_shape},
          {"", "Size", {1, 13, 19, 21, 23, 24, 25}, prepare_size}};
}

}  // namespace grurun::engine
