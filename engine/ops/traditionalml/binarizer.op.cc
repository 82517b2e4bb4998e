// Binarizer (ai.onnx.ml 1).
//
// Y = 1 where X > threshold, else 0, in X's element type. Both are compared as they are: an integer too large
// for a double is not rounded to one.
#include "engine/graph/op_context.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Types = TypeList<float, double, std::int64_t, std::int32_t>;

RunFunction prepare_binarizer(PrepareContext& node) {
  const float threshold = node.float_attribute("threshold", 0.0F);
  return [threshold](RunContext& run) {
    const Tensor& x = run.tensor(0);
    Tensor& y = run.output(0, x.dtype(), x.shape());
    dispatch(Types{}, x.dtype(), [&]<typename T>() {
      T* to = y.mutable_data<T>();
      for (const T value : x.span<T>()) {
        *to++ = static_cast<long double>(value) > static_cast<long double>(threshold) ? T{1} : T{0};
      }
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_binarizer() {
  return {{"ai.onnx.ml", "Binarizer", {1}, prepare_binarizer}};
}

}  // namespace grurun::engine
