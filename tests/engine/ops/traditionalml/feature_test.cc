// ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, Scaler.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

OpRowCase row(const char* name, const char* op, std::vector<Value> inputs, Attributes attributes, Tensor y) {
  return {name, std::string("ai.onnx.ml:") + op, 1, std::move(inputs), std::move(attributes), {std::move(y)}};
}

OpErrorCase refused(const char* name, const char* op, std::vector<Value> inputs, Attributes attributes,
                    const char* text) {
  return {name,
          std::string("ai.onnx.ml:") + op,
          1,
          std::move(inputs),
          std::move(attributes),
          ErrorKind::invalid_model,
          text};
}

template <typename T>
OpRowCase extracted(const char* name) {
  return row(name, "ArrayFeatureExtractor",
             {make<T>({2, 3}, {1, 2, 3, 4, 5, 6}), vec<std::int64_t>({2, 0, 2})}, {},
             make<T>({2, 3}, {3, 1, 3, 6, 4, 6}));
}

TEST(ArrayFeatureExtractor, LastAxis) {
  const Tensor x = make<float>({1, 2, 2}, {1, 2, 3, 4});
  const Tensor text = Tensor::from<std::string>(Shape{2}, std::vector<std::string>{"a", "b"});
  const auto op = "ArrayFeatureExtractor";
  check_rows({
      extracted<float>("float"),
      extracted<double>("double"),
      extracted<std::int64_t>("int64"),
      extracted<std::int32_t>("int32"),
      row("a vector gives a row", op, {text, vec<std::int64_t>({1})}, {},
          Tensor::from<std::string>(Shape{1, 1}, std::vector<std::string>{"b"})),
      row("indices of any shape", op, {x, make<std::int64_t>({2, 1}, {1, 0})}, {},
          make<float>({1, 2, 2}, {2, 1, 4, 3})),
      row("one index", op, {x, Tensor::scalar(std::int64_t{1})}, {}, make<float>({1, 2, 1}, {2, 4})),
      row("no index", op, {x, vec<std::int64_t>({})}, {}, make<float>({1, 2, 0}, {})),
  });
  check_errors({
      refused("too far", op, {x, vec<std::int64_t>({2})}, {}, "Y holds 2"),
      refused("below 0", op, {x, vec<std::int64_t>({-1})}, {}, "Y holds -1"),
      refused("a scalar", op, {Tensor::scalar(1.0F), vec<std::int64_t>({0})}, {}, "takes [...,F]"),
  });
}

TEST(Binarizer, EveryType) {
  const Attributes half{attr("threshold", 0.5F)};
  const Tensor large =
      Tensor::from<std::int64_t>(Shape{2}, Ints{(std::int64_t{1} << 53) + 1, std::int64_t{1} << 53});
  check_rows({
      row("float", "Binarizer", {make<float>({2, 2}, {0.5, 0.6, nan, -1})}, half,
          make<float>({2, 2}, {0, 1, 0, 0})),
      row("double", "Binarizer", {vec<double>({0.5, 0.5000000001})}, half, vec<double>({0, 1})),
      row("int64", "Binarizer", {vec<std::int64_t>({0, 1})}, half, vec<std::int64_t>({0, 1})),
      row("int32 above 0", "Binarizer", {vec<std::int32_t>({0, 1, -1})}, {}, vec<std::int32_t>({0, 1, 0})),
      row("beyond a double's integers", "Binarizer", {large}, {attr("threshold", 0x1p53F)},
          vec<std::int64_t>({1, 0})),
  });
}

TEST(Scaler, Features) {
  const Attributes each{attr("offset", Floats{1, 2}), attr("scale", Floats{10, 0.5F})};
  const Attributes one{attr("offset", Floats{1}), attr("scale", Floats{2})};
  check_rows({
      row("each its own", "Scaler", {make<float>({2, 2}, {1, 4, 2, 2})}, each,
          make<float>({2, 2}, {0, 1, 10, 0})),
      row("a row alone", "Scaler", {vec<double>({1, 4})}, each, vec<float>({0, 1})),
      row("one for all, of any rank", "Scaler", {make<std::int32_t>({1, 1, 2}, {1, 4})}, one,
          make<float>({1, 1, 2}, {0, 6})),
      row("integers before the float", "Scaler", {vec<std::int64_t>({(1 << 30) + 1})},
          {attr("offset", Floats{0x1p30F}), attr("scale", Floats{1})}, vec<float>({1})),
  });
  const Tensor x = make<float>({1, 3}, {1, 2, 3});
  check_errors({
      refused("lengths", "Scaler", {x}, {attr("offset", Floats{1, 2}), attr("scale", Floats{1})},
              "scale has 1 values, but offset has 2"),
      refused("no offset", "Scaler", {x}, {attr("scale", Floats{1})}, "offset is empty or left out"),
      refused("neither", "Scaler", {x}, {}, "offset is empty or left out"),
      refused("features", "Scaler", {x}, each, "3 features"),
      refused("features of a cube", "Scaler", {make<float>({1, 1, 2}, {1, 2})}, each, "[1,1,2]"),
  });
}

TEST(Normalizer, Norms) {
  const Tensor x = make<float>({3, 2}, {3, -4, 0, 0, -2, -8});
  const auto norm = [](const char* name) { return Attributes{attr("norm", name)}; };
  check_rows({
      row("MAX keeps the sign of the largest", "Normalizer", {x}, {},
          make<float>({3, 2}, {1, -4.0 / 3, 0, 0, 1, 4})),
      row("L1", "Normalizer", {x}, norm("L1"), make<float>({3, 2}, {3.0 / 7, -4.0 / 7, 0, 0, -0.2, -0.8})),
      row("L2", "Normalizer", {vec<double>({3, -4})}, norm("L2"), vec<float>({0.6, -0.8})),
      row("L2 of what has no square", "Normalizer", {vec<double>({3e200, -4e200})}, norm("L2"),
          vec<float>({0.6, -0.8})),
      row("int64", "Normalizer", {vec<std::int64_t>({1, 4})}, norm("MAX"), vec<float>({0.25, 1})),
      row("int32", "Normalizer", {vec<std::int32_t>({1, -3})}, norm("L1"), vec<float>({0.25, -0.75})),
      row("the divisor is 0, the values are not", "Normalizer", {vec<float>({-1, 0})}, norm("MAX"),
          vec<float>({-1, 0})),
      row("no column", "Normalizer", {make<float>({2, 0}, {})}, norm("L2"), make<float>({2, 0}, {})),
  });
  check_errors({
      refused("norm", "Normalizer", {x}, norm("L3"), "L3"),
      refused("a cube", "Normalizer", {make<float>({1, 1, 1}, {1})}, {}, "[1,1,1]"),
  });
}

TEST(Imputer, EveryType) {
  const auto floats = [](Floats values) { return attr("imputed_value_floats", std::move(values)); };
  const auto integers = [](Ints values) { return attr("imputed_value_int64s", std::move(values)); };
  const auto missing = attr("replaced_value_float", static_cast<float>(nan));
  check_rows({
      row("NaN, each its own", "Imputer", {make<float>({2, 2}, {nan, 1, 2, nan})}, {floats({7, 8}), missing},
          make<float>({2, 2}, {7, 1, 2, 8})),
      row("the other type's default written out", "Imputer", {make<float>({1, 2}, {0, 1})},
          {floats({7}), attr("replaced_value_int64", 0)}, make<float>({1, 2}, {7, 1})),
      row("0 by default, one for all", "Imputer", {make<double>({2, 2}, {0, 1, nan, -0.0})}, {floats({7})},
          make<double>({2, 2}, {7, 1, nan, 7})),
      row("the last axis", "Imputer", {make<float>({1, 2, 2}, {0, 0, 1, 0})}, {floats({7, 8})},
          make<float>({1, 2, 2}, {7, 8, 1, 8})),
      row("int64", "Imputer", {vec<std::int64_t>({-1, 5})}, {integers({9}), attr("replaced_value_int64", -1)},
          vec<std::int64_t>({9, 5})),
      row("int32", "Imputer", {vec<std::int32_t>({0, 5})}, {integers({9, 8})}, vec<std::int32_t>({9, 5})),
      row("int32 and a value it cannot hold", "Imputer", {vec<std::int32_t>({0})},
          {integers({9}), attr("replaced_value_int64", std::int64_t{1} << 32)}, vec<std::int32_t>({0})),
  });
  const Tensor x = make<float>({1, 3}, {1, 2, 3});
  check_errors({
      refused("count", "Imputer", {x}, {floats({1, 2})}, "imputed_value_floats has 2 values"),
      refused("none", "Imputer", {x}, {}, "imputed_value_floats has 0 values"),
      refused("integers for floats", "Imputer", {x}, {integers({1})}, "int64 twins"),
      refused("both", "Imputer", {x}, {floats({1}), attr("replaced_value_int64", 5)}, "int64 twins"),
      refused("floats for integers", "Imputer", {vec<std::int64_t>({1})}, {floats({1})}, "float twins"),
      refused("width", "Imputer", {vec<std::int32_t>({1})}, {integers({std::int64_t{1} << 31})}, "int32"),
  });
}

TEST(FeatureVectorizer, SideBySide) {
  const auto sizes = [](Ints values) { return Attributes{attr("inputdimensions", std::move(values))}; };
  const Tensor a = make<std::int64_t>({2, 2}, {1, 2, 3, 4});
  const Tensor b = make<std::int64_t>({2, 1}, {5, 6});
  check_rows({
      row("int64", "FeatureVectorizer", {a, b}, sizes({2, 1}), make<float>({2, 3}, {1, 2, 5, 3, 4, 6})),
      row("their own sizes", "FeatureVectorizer", {a, b}, {}, make<float>({2, 3}, {1, 2, 5, 3, 4, 6})),
      row("filled up and cut", "FeatureVectorizer", {a, b}, sizes({1, 2}),
          make<float>({2, 3}, {1, 5, 0, 3, 6, 0})),
      row("vectors are rows", "FeatureVectorizer", {vec<double>({1.5}), vec<double>({2, 3})}, sizes({1, 2}),
          make<float>({1, 3}, {1.5, 2, 3})),
      row("int32", "FeatureVectorizer", {vec<std::int32_t>({1})}, sizes({1}), make<float>({1, 1}, {1})),
  });
  check_errors({
      refused("rows", "FeatureVectorizer", {a, vec<std::int64_t>({1})}, sizes({2, 1}), "1 rows"),
      refused("sizes", "FeatureVectorizer", {a, b}, sizes({2}), "2 inputs"),
      refused("a negative size", "FeatureVectorizer", {a, b}, sizes({2, -1}), "-1"),
      refused("a cube", "FeatureVectorizer", {make<float>({1, 1, 1}, {1})}, sizes({1}), "[1,1,1]"),
  });
}

}  // namespace
}  // namespace grurun::engine::testing
