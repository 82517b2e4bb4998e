// LabelEncoder, CategoryMapper, OneHotEncoder, CastMap, DictVectorizer, ZipMap.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

OpRowCase row(const char* name, const char* op, std::int64_t opset, Value x, Attributes attributes,
              Tensor y) {
  return {name,           std::string("ai.onnx.ml:") + op, opset,
          {std::move(x)}, std::move(attributes),           {std::move(y)}};
}

OpErrorCase refused(const char* name, const char* op, std::int64_t opset, Value x, Attributes attributes,
                    const char* text) {
  return {name,
          std::string("ai.onnx.ml:") + op,
          opset,
          {std::move(x)},
          std::move(attributes),
          ErrorKind::invalid_model,
          text};
}

TEST(LabelEncoder, Version1) {
  const onnx_io::Attribute classes = attr("classes_strings", Words{"a", "b", "a"});
  const Attributes defaults{classes, attr("default_int64", 9), attr("default_string", "?")};
  check_rows({
      row("places, the last of several", "LabelEncoder", 1, words({"b", "a", "c"}), {classes},
          vec<std::int64_t>({1, 2, -1})),
      row("strings", "LabelEncoder", 1, vec<std::int64_t>({1, 3, -1}), {classes},
          words({"b", "_Unused", "_Unused"})),
      row("defaults", "LabelEncoder", 1, words({"c"}), defaults, vec<std::int64_t>({9})),
      row("default string", "LabelEncoder", 1, vec<std::int64_t>({7}), defaults, words({"?"})),
  });
}

TEST(LabelEncoder, EveryPairOfVersion2) {
  struct Side {
    const char* suffix;
    Tensor list;   // keys or values, the last key again
    Tensor asked;  // the second key, the repeated one, an unknown one
    onnx_io::Attribute fallback;
    Tensor unknown;
  };
  const std::vector<Side> sides{
      {"strings", words({"x", "y", "x"}), words({"y", "x", "z"}), attr("default_string", "?"), words({"?"})},
      {"int64s", vec<std::int64_t>({3, 1, 3}), vec<std::int64_t>({1, 3, 2}), attr("default_int64", -7),
       vec<std::int64_t>({-7})},
      {"floats", vec<float>({0.5, 0.25, 0.5}), vec<float>({0.25, 0.5, 1}), attr("default_float", -7.5F),
       vec<float>({-7.5})}};
  const auto list = [](const std::string& name, const Tensor& values) {
    if (values.dtype() == DType::string)
      return attr(name, Words(values.span<std::string>().begin(), values.span<std::string>().end()));
    if (values.dtype() == DType::float32)
      return attr(name, Floats(values.span<float>().begin(), values.span<float>().end()));
    return attr(name, Ints(values.span<std::int64_t>().begin(), values.span<std::int64_t>().end()));
  };
  for (const std::int64_t opset : {2, 4}) {
    for (const Side& from : sides) {
      for (const Side& to : sides) {
        const Attributes attributes{list(std::string("keys_") + from.suffix, from.list),
                                    list(std::string("values_") + to.suffix, to.list), to.fallback};
        const std::vector<Value> made =
            run_node("LabelEncoder", "ai.onnx.ml", opset, {from.asked}, attributes);
        // The values at 1 and 2, and the default.
        const std::vector<Value> expected =
            run_node("Concat", "", 13,
                     {run_node("Gather", "", 13, {to.list, vec<std::int64_t>({1, 2})})[0], to.unknown},
                     {attr("axis", 0)});
        EXPECT_EQ(difference(made[0].tensor(), expected[0].tensor()), "")
            << from.suffix << " to " << to.suffix;
      }
    }
  }
}

TEST(LabelEncoder, FloatKeys) {
  const Tensor x = vec<float>({0, -0.0, nan, 1});
  Tensor other_nan = vec<float>({0});
  *other_nan.mutable_data<float>() = std::bit_cast<float>(std::uint32_t{0x7fc00001});
  const Attributes encoder{attr("keys_floats", Floats{-0.0F, std::numeric_limits<float>::quiet_NaN()}),
                           attr("values_int64s", Ints{5, 6})};
  check_rows({
      row("bits in version 2", "LabelEncoder", 2, x, encoder, vec<std::int64_t>({-1, 5, 6, -1})),
      row("numbers in version 4", "LabelEncoder", 4, x, encoder, vec<std::int64_t>({5, 5, 6, -1})),
      row("another NaN in version 2", "LabelEncoder", 2, other_nan, encoder, vec<std::int64_t>({-1})),
      row("another NaN in version 4", "LabelEncoder", 4, other_nan, encoder, vec<std::int64_t>({6})),
  });
}

template <typename Key, typename Out>
void check_tensors(const std::vector<double>& unknown) {
  const Attributes encoder{attr("keys_tensor", vec<Key>({1, 2, 1})),
                           attr("values_tensor", vec<Out>({10, 20, 30}))};
  Attributes with_default = encoder;
  with_default.push_back(attr("default_tensor", vec<Out>({7})));
  const Tensor x = make<Key>({2, 2}, {2, 1, 3, 2});
  check_rows({
      row("tensors", "LabelEncoder", 4, x, encoder, make<Out>({2, 2}, {20, 30, unknown[0], 20})),
      row("default_tensor", "LabelEncoder", 4, x, with_default, make<Out>({2, 2}, {20, 30, 7, 20})),
  });
}

TEST(LabelEncoder, Tensors) {
  check_tensors<std::int16_t, double>({-0.0});
  check_tensors<double, std::int16_t>({-1});
  check_tensors<std::int32_t, float>({-0.0});
  check_tensors<float, std::int32_t>({-1});
  check_tensors<std::int64_t, std::int64_t>({-1});
  const Attributes strings{attr("keys_tensor", words({"a", "b"})), attr("values_tensor", words({"c", "d"}))};
  check_rows({row("strings", "LabelEncoder", 4, words({"b", "x"}), strings, words({"d", "_Unused"}))});
}

TEST(LabelEncoder, Refusals) {
  const auto keys = attr("keys_int64s", Ints{1, 2});
  const auto values = attr("values_floats", Floats{1, 2});
  const Tensor x = vec<std::int64_t>({1});
  check_errors({
      refused("lengths", "LabelEncoder", 2, x, {keys, attr("values_floats", Floats{1})},
              "2 keys and 1 values"),
      refused("no key", "LabelEncoder", 2, x, {values}, "keys_*"),
      refused("two kinds of value", "LabelEncoder", 4, x, {keys, values, attr("values_int64s", Ints{1, 2})},
              "values_floats and values_int64s are both given, but LabelEncoder takes one of them"),
      refused("X of another type", "LabelEncoder", 2, vec<float>({1}), {keys, values}, "X is float"),
      refused("default_tensor of another type", "LabelEncoder", 4, x,
              {keys, values, attr("default_tensor", vec<double>({1}))}, "default_tensor"),
      refused("two defaults", "LabelEncoder", 4, x,
              {keys, values, attr("default_tensor", vec<float>({1, 2}))}, "default_tensor"),
      refused("a matrix of keys", "LabelEncoder", 4, x,
              {attr("keys_tensor", make<std::int64_t>({2, 1}, {1, 2})), values}, "list"),
      refused("keys of uint8", "LabelEncoder", 4, x, {attr("keys_tensor", vec<std::uint8_t>({1, 2})), values},
              "uint8"),
      refused("a tensor in version 2", "LabelEncoder", 2, x,
              {attr("keys_tensor", vec<std::int64_t>({1, 2})), values}, "has no attribute 'keys_tensor'"),
  });
}

TEST(CategoryMapper, BothWays) {
  const Attributes mapper{attr("cats_int64s", Ints{5, 9}), attr("cats_strings", Words{"a", "b"})};
  Attributes defaults = mapper;
  defaults.push_back(attr("default_int64", 3));
  defaults.push_back(attr("default_string", "?"));
  check_rows({
      row("strings", "CategoryMapper", 1, words({"b", "a", "c"}), mapper, vec<std::int64_t>({9, 5, -1})),
      row("numbers", "CategoryMapper", 1, vec<std::int64_t>({5, 1, 9}), mapper, words({"a", "_Unused", "b"})),
      row("a default number", "CategoryMapper", 1, words({"c"}), defaults, vec<std::int64_t>({3})),
      row("a default string", "CategoryMapper", 1, vec<std::int64_t>({1}), defaults, words({"?"})),
  });
  check_errors({refused("lengths", "CategoryMapper", 1, words({"a"}),
                        {attr("cats_int64s", Ints{5}), attr("cats_strings", Words{"a", "b"})},
                        "cats_strings has 2 values, but cats_int64s has 1")});
}

TEST(OneHotEncoder, EveryType) {
  const Attributes numbers{attr("cats_int64s", Ints{4, 0, -2})};
  const Attributes strings{attr("cats_strings", Words{"a", "b"})};
  Attributes strict = numbers;
  strict.push_back(attr("zeros", 0));
  const std::vector<double> y{0, 0, 1, 1, 0, 0};
  const Tensor odd = make<float>({1, 4}, {-2.9, nan, INFINITY, 1e30});
  check_rows({
      row("int64", "OneHotEncoder", 1, vec<std::int64_t>({-2, 4}), numbers, make<float>({2, 3}, y)),
      row("int32", "OneHotEncoder", 1, vec<std::int32_t>({-2, 4}), strict, make<float>({2, 3}, y)),
      row("double", "OneHotEncoder", 1, make<double>({1, 2, 1}, {-2, 4}), numbers,
          make<float>({1, 2, 1, 3}, y)),
      row("floats are cut to integers; what no integer is has no category", "OneHotEncoder", 1, odd, numbers,
          make<float>({1, 4, 3}, {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})),
      row("strings", "OneHotEncoder", 1, words({"b", "c"}), strings, make<float>({2, 2}, {0, 1, 0, 0})),
      row("a scalar", "OneHotEncoder", 1, Tensor::scalar(std::int64_t{0}), numbers, vec<float>({0, 1, 0})),
  });
  check_errors({
      refused("no category", "OneHotEncoder", 1, vec<std::int64_t>({4, 1}), strict, "X holds '1'"),
      refused("strings for numbers", "OneHotEncoder", 1, words({"a"}), numbers, "categories are int64"),
      refused("both lists", "OneHotEncoder", 1, words({"a"}),
              {attr("cats_int64s", Ints{5}), attr("cats_strings", Words{"a"})}, "not both"),
      refused("no list", "OneHotEncoder", 1, words({"a"}), {}, "cats_int64s"),
  });
}

template <typename T>
Value map_of(Tensor keys, const std::vector<T>& values) {
  Map map{ValueType::tensor(dtype_of<T>, SymbolicShape{}), std::move(keys), {}};
  for (const T& value : values) map.values.emplace_back(Tensor::scalar(value));
  return map;
}

TEST(CastMap, Forms) {
  const Value floats = map_of<float>(vec<std::int64_t>({3, 1}), {1.5F, -2.75F});
  const Value strings = map_of<std::string>(vec<std::int64_t>({3, 1}), {"1.5", "-2.75"});
  const auto to = [](const char* target) { return attr("cast_to", target); };
  const Attributes sparse{attr("map_form", "SPARSE"), attr("max_map", 4)};
  Attributes sparse_strings = sparse;
  sparse_strings.push_back(to("TO_STRING"));
  const auto text_row = [](const Words& values) {
    return words(values).reshaped(Shape{1, static_cast<std::int64_t>(values.size())});
  };
  check_rows({
      row("by the keys", "CastMap", 1, floats, {}, make<float>({1, 2}, {-2.75, 1.5})),
      row("to int64", "CastMap", 1, floats, {to("TO_INT64")}, make<std::int64_t>({1, 2}, {-2, 1})),
      row("to string", "CastMap", 1, floats, {to("TO_STRING")}, text_row({"-2.75", "1.5"})),
      row("strings to float", "CastMap", 1, strings, {}, make<float>({1, 2}, {-2.75, 1.5})),
      row("strings to int64", "CastMap", 1, strings, {to("TO_INT64")}, make<std::int64_t>({1, 2}, {-2, 1})),
      row("sparse", "CastMap", 1, floats, sparse, make<float>({1, 4}, {0, -2.75, 0, 1.5})),
      row("sparse strings", "CastMap", 1, strings, sparse_strings, text_row({"", "-2.75", "", "1.5"})),
      row("nothing", "CastMap", 1, map_of<float>(vec<std::int64_t>({}), {}), {}, make<float>({1, 0}, {})),
  });
  const auto places = [](std::int64_t count) {
    return Attributes{attr("map_form", "SPARSE"), attr("max_map", count)};
  };
  check_errors({
      refused("a key too large", "CastMap", 1, floats, places(3), "key 3"),
      refused("a key below 0", "CastMap", 1, map_of<float>(vec<std::int64_t>({-1}), {1}), places(3),
              "key -1"),
      refused("no place", "CastMap", 1, floats, places(0), "max_map is 0"),
      refused("a form", "CastMap", 1, floats, {attr("map_form", "CSR")}, "CSR"),
      refused("a target", "CastMap", 1, floats, {to("TO_DOUBLE")}, "TO_DOUBLE"),
      refused("a word as number", "CastMap", 1, map_of<std::string>(vec<std::int64_t>({1}), {"x"}), {},
              "'x'"),
      refused("string keys", "CastMap", 1, map_of<float>(words({"a"}), {1}), {}, "string keys"),
      refused("values of int64", "CastMap", 1, map_of<std::int64_t>(vec<std::int64_t>({1}), {1}), {},
              "int64"),
      refused("a tensor", "CastMap", 1, vec<float>({1}), {}, "input X is tensor(float); CastMap-1 admits "),
  });
}

TEST(DictVectorizer, EveryType) {
  const Attributes names{attr("string_vocabulary", Words{"a", "c", "b", "z"})};
  const Attributes numbers{attr("int64_vocabulary", Ints{7, -1})};
  const Tensor keys = words({"c", "a"});
  const Tensor ids = vec<std::int64_t>({-1});
  check_rows({
      row("int64", "DictVectorizer", 1, map_of<std::int64_t>(keys, {8, 4}), names,
          vec<std::int64_t>({4, 8, 0, 0})),
      row("float", "DictVectorizer", 1, map_of<float>(keys, {8, 4}), names, vec<float>({4, 8, 0, 0})),
      row("double", "DictVectorizer", 1, map_of<double>(keys, {8, 4}), names, vec<double>({4, 8, 0, 0})),
      row("of numbers: float", "DictVectorizer", 1, map_of<float>(ids, {8}), numbers, vec<float>({0, 8})),
      row("of numbers: double", "DictVectorizer", 1, map_of<double>(ids, {8}), numbers, vec<double>({0, 8})),
      row("of numbers: string", "DictVectorizer", 1, map_of<std::string>(ids, {"x"}), numbers,
          words({"", "x"})),
      row("nothing", "DictVectorizer", 1, map_of<double>(vec<std::int64_t>({}), {}), numbers,
          vec<double>({0, 0})),
  });
  check_errors({
      refused("a key of no place", "DictVectorizer", 1, map_of<float>(words({"q"}), {1}), names, "'q'"),
      refused("keys of another type", "DictVectorizer", 1, map_of<float>(ids, {1}), names,
              "vocabulary is of string"),
      refused("no vocabulary", "DictVectorizer", 1, map_of<float>(ids, {1}), {}, "string_vocabulary"),
  });
}

TEST(ZipMap, Rows) {
  const auto run = [](Tensor x, onnx_io::Attribute labels) {
    return run_node("ZipMap", "ai.onnx.ml", 1, {std::move(x)}, {std::move(labels)})[0];
  };
  const Value two = run(make<float>({2, 2}, {1, 2, 3, 4}), attr("classlabels_int64s", Ints{7, 5}));
  EXPECT_EQ(two.type().to_string(), "seq(map(int64,tensor(float)))");
  ASSERT_EQ(two.sequence().items.size(), 2U);
  for (std::size_t n = 0; n < 2; ++n) {
    const Map& map = two.sequence().items[n].map();
    EXPECT_EQ(difference(map.keys, vec<std::int64_t>({7, 5})), "");
    const auto first = static_cast<float>(2 * n + 1);
    EXPECT_EQ(difference(map.values[0].tensor(), Tensor::scalar(first)), "");
    EXPECT_EQ(difference(map.values[1].tensor(), Tensor::scalar(first + 1)), "");
  }
  const Value one = run(vec<float>({1}), attr("classlabels_strings", Words{"a"}));
  ASSERT_EQ(one.sequence().items.size(), 1U);
  EXPECT_EQ(difference(one.sequence().items[0].map().keys, words({"a"})), "");
  const Value none = run(make<float>({0, 1}, {}), attr("classlabels_strings", Words{"a"}));
  EXPECT_EQ(none.type().to_string(), "seq(map(string,tensor(float)))");
  EXPECT_TRUE(none.sequence().items.empty());
  check_errors({
      refused("columns", "ZipMap", 1, vec<float>({1, 2}), {attr("classlabels_int64s", Ints{1})}, "2 columns"),
      refused("a label twice", "ZipMap", 1, vec<float>({1, 2}), {attr("classlabels_int64s", Ints{1, 1})},
              "twice"),
      refused("no label", "ZipMap", 1, vec<float>({1}), {}, "classlabels_int64s"),
  });
}

}  // namespace
}  // namespace grurun::engine::testing
