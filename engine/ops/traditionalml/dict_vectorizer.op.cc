// DictVectorizer (ai.onnx.ml 1).
//
// Y [V], one element for each key of the vocabulary: its value in the map X, or 0 ("" among strings) where X
// has no such key. "All keys in the input dictionary must be present in the index mapping vector."
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/traditionalml/key_index.h"

namespace grurun::engine {

namespace {

template <typename Key>
RunFunction vectorizer(const std::vector<Key>& vocabulary) {
  const auto length = static_cast<std::int64_t>(vocabulary.size());
  return [length, places = KeyIndex<Key>(std::span(vocabulary))](RunContext& run) {
    const Map& map = run.input(0).map();
    if (map.keys.dtype() != dtype_of<Key>) refuse();
    const DType dtype = map.values.empty() ? map.value_type.elem : map.values[0].tensor().dtype();
    constexpr DTypeSet admitted{DType::int64, DType::float32, DType::float64, DType::string};
    if (!admitted.contains(dtype)) refuse();
    Tensor y = Tensor::zeros(dtype, Shape{length});
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      const Key& key = map.keys.span<Key>()[i];
      const std::int64_t place = places.find(key);
      if (place < 0) refuse();
      const Tensor& value = map.values[i].tensor();
      if (value.dtype() != dtype || value.size() != 1) refuse();
      copy_elements(y, place, value, 0, 1);
    }
    run.set_output(0, std::move(y));
  };
}

RunFunction prepare_dict_vectorizer(PrepareContext& node) {
  const std::vector<std::int64_t> numbers = node.ints_attribute("int64_vocabulary");
  const std::vector<std::string> strings = node.strings_attribute("string_vocabulary");
  return numbers.empty() ? vectorizer(strings) : vectorizer(numbers);
}

}  // namespace

std::vector<OpRow> op_rows_dict_vectorizer() {
  return {{"ai.onnx.ml", "DictVectorizer", {1}, prepare_dict_vectorizer}};
}

}  // namespace grurun::engine
