// EyeLike (ai.onnx 9, 22).
//
// A matrix of the input's shape with ones on diagonal k (above the main one when positive) and zeros
// elsewhere, of the type that dtype states, by default the input's.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

RunFunction prepare_eye_like(PrepareContext& node) {
  const std::int64_t k = node.int_attribute("k", 0);
  const auto stated = node.optional_int("dtype");
  if (stated && !is_valid_dtype(*stated)) refuse();
  return [k, stated](RunContext& run) {
    const Tensor& input = run.tensor(0);
    if (input.rank() != 2) refuse();
    const DType dtype = stated ? static_cast<DType>(*stated) : input.dtype();
    const std::int64_t rows = input.dim(0), columns = input.dim(1);
    Tensor out = Tensor::zeros(dtype, input.shape());
    dispatch(Join<Numbers, TypeList<bool>>{}, dtype, [&]<typename T>() {
      T* to = out.mutable_data<T>();
      if (k >= columns || k <= -rows) return;
      for (std::int64_t row = std::max<std::int64_t>(0, -k); row < rows && row + k < columns; ++row) {
        to[row * columns + row + k] = static_cast<T>(1);
      }
    });
    run.set_output(0, std::move(out));
  };
}

}  // namespace

std::vector<OpRow> op_rows_eye_like() {
  return {{"", "EyeLike", {9, 22}, prepare_eye_like}};
}

}  // namespace grurun::engine
