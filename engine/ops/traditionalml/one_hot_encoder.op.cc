// OneHotEncoder (ai.onnx.ml 1).
//
// Y [..., K] of X [...]: 1 at the place of each element in the list of K categories, 0 elsewhere. Numbers are
// cast to integers, fractions cut off, and looked up in cats_int64s, strings in cats_strings. An element of
// no category is all zeros with zeros = 1, and refused otherwise.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/key_index.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Numeric = TypeList<std::int64_t, std::int32_t, float, double>;

struct OneHot {
  bool zeros;
  std::int64_t depth;

  /// Writes the row of an element that stands at this place, or at none (-1).
  void write(std::int64_t place, float* row) const {
    std::fill_n(row, depth, 0.0F);
    if (place < 0 && !zeros) refuse();
    if (place >= 0) row[place] = 1.0F;
  }
};

// The place of a number that is cast to int64; NaN and what int64 cannot hold are no category.
template <typename T>
std::int64_t place_of(T value, const KeyIndex<std::int64_t>& places) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!(value >= T(-9223372036854775808.0) && value < T(9223372036854775808.0))) return -1;
  }
  return places.find(static_cast<std::int64_t>(value));
}

Shape with_depth(const Shape& shape, std::int64_t depth) {
  Shape out = shape;
  out.push_back(depth);
  return out;
}

RunFunction prepare_one_hot_encoder(PrepareContext& node) {
  const std::vector<std::int64_t> numbers = node.ints_attribute("cats_int64s");
  const std::vector<std::string> strings = node.strings_attribute("cats_strings");
  const OneHot one_hot{node.int_attribute("zeros", 1) != 0,
                       static_cast<std::int64_t>(std::max(numbers.size(), strings.size()))};
  const KeyIndex<std::int64_t> by_number{std::span(numbers)};
  const KeyIndex<std::string> by_string{std::span(strings)};
  const bool of_strings = !strings.empty();
  return [=](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if ((x.dtype() == DType::string) != of_strings) refuse();
    float* y = run.output(0, DType::float32, with_depth(x.shape(), one_hot.depth)).mutable_data<float>();
    std::int64_t element = 0;
    const auto write = [&](std::int64_t place) {
      one_hot.write(place, y + element * one_hot.depth);
      ++element;
    };
    if (of_strings) {
      for (const std::string& text : x.span<std::string>()) write(by_string.find(text));
      return;
    }
    dispatch(Numeric{}, x.dtype(), [&]<typename T>() {
      for (const T value : x.span<T>()) write(place_of(value, by_number));
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_one_hot_encoder() {
  return {{"ai.onnx.ml", "OneHotEncoder", {1}, prepare_one_hot_encoder}};
}

}  // namespace grurun::engine
