// LabelEncoder (ai.onnx.ml 1, 2, 4).
//
// Version 1: strings become their place in classes_strings, or default_int64; int64 numbers become the string
// at that place, or default_string.
// Versions 2 and 4: Y[i] = values[k] for the last k with keys[k] = X[i], or the default. Floating keys
// compare by their bits in version 2; in version 4 as numbers, where NaN equals NaN. Version 4 adds keys,
// values and the default as tensors, of double, int32 and int16 too.
#include <optional>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/traditionalml/key_index.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Types = TypeList<std::string, std::int64_t, float, std::int32_t, std::int16_t, double>;

/// The one of <prefix>_strings, _int64s, _floats and _tensor that is given, as a list [n].
Tensor read_list(PrepareContext& node, const std::string& prefix) {
  std::vector<Tensor> given;
  const auto add = [&]<typename T>(const std::vector<T>& values) {
    const Shape shape{static_cast<std::int64_t>(values.size())};
    if (!values.empty()) given.push_back(Tensor::from<T>(shape, values));
  };
  add(node.strings_attribute((prefix + "_strings").c_str()));
  add(node.ints_attribute((prefix + "_int64s").c_str()));
  add(node.floats_attribute((prefix + "_floats").c_str()));
  if (node.since_version() >= 4) {
    if (const auto tensor = node.tensor_attribute((prefix + "_tensor").c_str())) given.push_back(*tensor);
  }
  if (given.size() != 1) refuse();
  return given.front();
}

/// What a key that is not listed becomes: default_tensor, or the default_* of the values' type. The others
/// have defaults of their own in the schema, so that one which is written out for another type is no
/// contradiction.
Tensor read_default(PrepareContext& node, DType dtype) {
  std::optional<Tensor> tensor;
  if (node.since_version() >= 4) tensor = node.tensor_attribute("default_tensor");
  const std::string text = node.string_attribute("default_string", "_Unused");
  const std::int64_t number = node.int_attribute("default_int64", -1);
  const float real = node.float_attribute("default_float", -0.0F);
  if (tensor) return *tensor;
  return dispatch(Types{}, dtype, [&]<typename T>() {
    if constexpr (std::is_same_v<T, std::string>) {
      return Tensor::scalar(text);
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      return Tensor::scalar(number);
    } else if constexpr (std::is_same_v<T, float>) {
      return Tensor::scalar(real);
    } else {
      // default_tensor is the only attribute that holds these types; this is its default.
      return Tensor::scalar(std::is_floating_point_v<T> ? T(-0.0) : T(-1));
    }
  });
}

template <typename T>
RunFunction encode(const Tensor& keys, const Tensor& values, const Tensor& unknown, FloatEquality equality) {
  return [places = KeyIndex<T>(keys.span<T>(), equality), values, unknown](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.dtype() != dtype_of<T>) refuse();
    Tensor& y = run.output(0, values.dtype(), x.shape());
    std::int64_t at = 0;
    for (const T& key : x.span<T>()) {
      const std::int64_t place = places.find(key);
      copy_elements(y, at++, place < 0 ? unknown : values, std::max<std::int64_t>(place, 0), 1);
    }
  };
}

RunFunction prepare_label_encoder(PrepareContext& node) {
  const Tensor keys = read_list(node, "keys");
  const Tensor values = read_list(node, "values");
  const Tensor unknown = read_default(node, values.dtype());
  const auto equality = node.since_version() < 4 ? FloatEquality::bits : FloatEquality::numbers;
  return dispatch(Types{}, keys.dtype(),
                  [&]<typename T>() { return encode<T>(keys, values, unknown, equality); });
}

RunFunction prepare_label_encoder_1(PrepareContext& node) {
  const std::vector<std::string> classes = node.strings_attribute("classes_strings");
  const std::int64_t unknown_string = node.int_attribute("default_int64", -1);
  const std::string unknown_number = node.string_attribute("default_string", "_Unused");
  const KeyIndex<std::string> places{std::span(classes)};
  return [classes, unknown_string, unknown_number, places](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.dtype() == DType::string) {
      std::int64_t* y = run.output(0, DType::int64, x.shape()).mutable_data<std::int64_t>();
      for (const std::string& text : x.span<std::string>()) {
        const std::int64_t place = places.find(text);
        *y++ = place < 0 ? unknown_string : place;
      }
      return;
    }
    std::string* y = run.output(0, DType::string, x.shape()).mutable_data<std::string>();
    for (const std::int64_t place : x.span<std::int64_t>()) {
      const bool known = place >= 0 && place < static_cast<std::int64_t>(classes.size());
      *y++ = known ? classes[static_cast<std::size_t>(place)] : unknown_number;
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_label_encoder() {
  return {{"ai.onnx.ml", "LabelEncoder", {1}, prepare_label_encoder_1},
          {"ai.onnx.ml", "LabelEncoder", {2, 4}, prepare_label_encoder}};
}

}  // namespace grurun::engine
