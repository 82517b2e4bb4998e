// StringConcat (ai.onnx 20).
//
// Z = X followed by Y, element by element, with multidirectional broadcasting.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/broadcast.h"

namespace grurun::engine {

namespace {

void run_concat(RunContext& run) {
  const Tensor& x = run.tensor(0);
  const Tensor& y = run.tensor(1);
  const Shape shape = broadcast_shape(x.shape(), y.shape());
  const BroadcastWalk walk(shape, {&x.shape(), &y.shape()});
  Tensor& z = run.output(0, DType::string, shape);
  std::string* to = z.mutable_data<std::string>();
  const std::string* left = x.data<std::string>();
  const std::string* right = y.data<std::string>();
  const std::int64_t left_step = walk.steps(0) ? 1 : 0;
  const std::int64_t right_step = walk.steps(1) ? 1 : 0;
  walk.for_each(0, walk.size(), [&](std::int64_t out, const BroadcastWalk::Offsets& at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::string& head = left[at[0] + i * left_step];
      const std::string& tail = right[at[1] + i * right_step];
      to[out + i].reserve(head.size() + tail.size());
      to[out + i].append(head).append(tail);
    }
  });
}

RunFunction prepare_string_concat(PrepareContext&) {
  return run_concat;
}

}  // namespace

std::vector<OpRow> op_rows_string_concat() {
  return {{"", "StringConcat", {20}, prepare_string_concat}};
}

}  // namespace grurun::engine
