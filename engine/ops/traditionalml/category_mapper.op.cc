// CategoryMapper (ai.onnx.ml 1).
//
// Strings become the number of cats_int64s at their place in cats_strings, or default_int64; numbers become
// the string the other way round, or default_string. Which of the two X's element type says.
#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/key_index.h"

namespace grurun::engine {

namespace {

template <typename From, typename To>
void map_all(const Tensor& x, const KeyIndex<From>& places, const std::vector<To>& values, const To& unknown,
             RunContext& run) {
  To* y = run.output(0, dtype_of<To>, x.shape()).template mutable_data<To>();
  for (const From& key : x.span<From>()) {
    const std::int64_t place = places.find(key);
    *y++ = place < 0 ? unknown : values[static_cast<std::size_t>(place)];
  }
}

RunFunction prepare_category_mapper(PrepareContext& node) {
  const std::vector<std::int64_t> numbers = node.ints_attribute("cats_int64s");
  const std::vector<std::string> strings = node.strings_attribute("cats_strings");
  const std::int64_t unknown_string = node.int_attribute("default_int64", -1);
  const std::string unknown_number = node.string_attribute("default_string", "_Unused");
  const KeyIndex<std::int64_t> by_number{std::span(numbers)};
  const KeyIndex<std::string> by_string{std::span(strings)};
  return [=](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.dtype() == DType::string) {
      map_all(x, by_string, numbers, unknown_string, run);
    } else {
      map_all(x, by_number, strings, unknown_number, run);
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_category_mapper() {
  return {{"ai.onnx.ml", "CategoryMapper", {1}, prepare_category_mapper}};
}

}  // namespace grurun::engine
