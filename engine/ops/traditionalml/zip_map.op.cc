// ZipMap (ai.onnx.ml 1).
//
// X [N, C], or [C] as one row, becomes a sequence of N maps: the i-th class label to the row's i-th value.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/feature_rows.h"

namespace grurun::engine {

namespace {

template <typename Key>
RunFunction zipper(const std::vector<Key>& labels) {
  const Tensor keys = Tensor::from<Key>(Shape{static_cast<std::int64_t>(labels.size())}, labels);
  return [keys](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const FeatureRows rows = feature_rows(x);
    if (rows.width != keys.size()) refuse();
    const ValueType scalar = ValueType::tensor(DType::float32, SymbolicShape{});
    Sequence out{ValueType::map(keys.dtype(), scalar), {}};
    const float* value = x.data<float>();
    for (std::int64_t n = 0; n < rows.count; ++n) {
      run.check_limits();
      Map map{scalar, keys, {}};
      map.values.reserve(static_cast<std::size_t>(rows.width));
      for (std::int64_t c = 0; c < rows.width; ++c) map.values.emplace_back(Tensor::scalar(*value++));
      out.items.emplace_back(std::move(map));
    }
    run.set_output(0, std::move(out));
  };
}

RunFunction prepare_zip_map(PrepareContext& node) {
  const std::vector<std::int64_t> numbers = node.ints_attribute("classlabels_int64s");
  const std::vector<std::string> strings = node.strings_attribute("classlabels_strings");
  return numbers.empty() ? zipper(strings) : zipper(numbers);
}

}  // namespace

std::vector<OpRow> op_rows_zip_map() {
  return {{"ai.onnx.ml", "ZipMap", {1}, prepare_zip_map}};
}

}  // namespace grurun::engine
