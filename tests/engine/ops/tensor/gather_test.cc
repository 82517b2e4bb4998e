// Gather against its definition, element by element.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Tensor counted_up(DType dtype, const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  std::iota(values.begin(), values.end(), 0.0);
  return dtype == DType::float32 ? make<float>(shape, values) : make<std::int8_t>(shape, values);
}

// output[a, i, b] = data[a, indices[i], b]
Tensor by_definition(const Tensor& data, std::size_t axis, const std::vector<double>& indices) {
  const std::int64_t before = data.shape().count(0, axis), length = data.dim(axis),
                     after = data.shape().count(axis + 1, data.rank());
  std::vector<double> values;
  for (std::int64_t a = 0; a < before; ++a) {
    for (const double index : indices) {
      const std::int64_t place = static_cast<std::int64_t>(index) + (index < 0 ? length : 0);
      for (std::int64_t b = 0; b < after; ++b)
        values.push_back(static_cast<double>(data.data<float>()[(a * length + place) * after + b]));
    }
  }
  Shape shape = data.shape();
  shape[axis] = static_cast<std::int64_t>(indices.size());
  return make<float>(shape, values);
}

TEST(Gather, EveryAxis) {
  std::vector<OpRowCase> rows;
  // The last is shared out among threads.
  for (const Shape& shape : {Shape{5}, Shape{3, 4}, Shape{2, 5, 3}, Shape{3, 1, 4, 2}, Shape{300, 200}}) {
    const Tensor data = counted_up(DType::float32, shape);
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      std::vector<double> indices;
      const std::int64_t length = shape[axis];
      for (std::int64_t i = 0; i < 2 * length; ++i)
        indices.push_back(static_cast<double>(i * 7 % (2 * length) - length));
      rows.push_back({"axis " + std::to_string(axis) + " of " + shape.to_string(),
                      "Gather",
                      13,
                      {data, vec<std::int64_t>(indices)},
                      {attr("axis", static_cast<int>(axis))},
                      {by_definition(data, axis, indices)}});
    }
  }
  check_rows(rows);
}

TEST(Gather, TypesAndForms) {
  const Tensor names = words({"a", "b", "c"});
  check_rows({
      {"strings", "Gather", 13, {names, vec<std::int32_t>({2, 0, -1})}, {}, {words({"c", "a", "c"})}},
      {"8 bits",
       "Gather",
       1,
       {counted_up(DType::int8, {2, 3}), vec<std::int32_t>({1})},
       {attr("axis", 1)},
       {make<std::int8_t>({2, 1}, {1, 4})}},
      {"one index without an axis",
       "Gather",
       11,
       {names, Tensor::scalar(std::int64_t{1})},
       {},
       {Tensor::from<std::string>(Shape{}, {"b"})}},
      {"indices of two axes",
       "Gather",
       11,
       {vec<float>({1, 2, 3}), make<std::int64_t>({2, 2}, {0, 1, 2, 0})},
       {},
       {make<float>({2, 2}, {1, 2, 3, 1})}},
      {"no index",
       "Gather",
       13,
       {counted_up(DType::float32, {2, 3}), vec<std::int64_t>({})},
       {attr("axis", 1)},
       {make<float>({2, 0}, {})}},
  });
}

template <typename T>
void gather_single(std::int64_t count) {
  constexpr std::int64_t length = 50;
  std::vector<double> x, indices, expected;
  for (std::int64_t i = 0; i < 2 * length; ++i) x.push_back(static_cast<double>(i + 1));
  for (std::int64_t k = 0; k < count; ++k) indices.push_back(static_cast<double>(k * 17 % length));
  for (std::int64_t row = 0; row < 2; ++row) {
    for (const double index : indices) expected.push_back(static_cast<double>(row * length) + index + 1);
  }
  check_rows({{std::to_string(count) + " of 50",
               "Gather",
               13,
               {make<T>({2, length}, x), vec<std::int64_t>(indices)},
               {attr("axis", 1)},
               {make<T>({2, count}, expected)}}});
}

TEST(Gather, SingleElementsOfEveryWidth) {
  for (const std::int64_t count : {1, 3, 4, 7, 8, 9, 31, 64}) {
    gather_single<std::uint8_t>(count);
    gather_single<std::int8_t>(count);
    gather_single<std::int16_t>(count);
    gather_single<float>(count);
    gather_single<double>(count);
  }
}

TEST(Gather, RefusesWhatIsOutOfRange) {
  const Tensor data = vec<float>({1, 2, 3});
  check_errors({
      {"behind",
       "Gather",
       13,
       {data, vec<std::int64_t>({0, 3})},
       {},
       ErrorKind::invalid_model,
       "input indices holds 3, but must lie in [-n, n), where n is 3"},
      {"ahead",
       "Gather",
       13,
       {data, vec<std::int64_t>({-4})},
       {},
       ErrorKind::invalid_model,
       "input indices holds -4"},
      {"negative before version 11",
       "Gather",
       1,
       {data, vec<std::int64_t>({-1})},
       {},
       ErrorKind::invalid_model,
       "input indices holds -1, but Gather-1 takes non-negative numbers only"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
