// Table tests of single operators: every row runs, then all failures are listed at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/error.h"
#include "tests/engine/one_node.h"

namespace grurun::engine::testing {

struct OpRowCase {
  std::string name;  // what the row shows
  std::string op;    // of ai.onnx, or "domain:type"
  std::int64_t opset;
  std::vector<Value> inputs;
  Attributes attributes;
  std::vector<Tensor> expected;  // outputs in order
};

/// A row that must fail with this kind and a message that holds this text.
struct OpErrorCase {
  std::string name;
  std::string op;
  std::int64_t opset;
  std::vector<Value> inputs;
  Attributes attributes;
  ErrorKind kind;
  std::string text;
  std::size_t outputs = 1;
};

/// Values given as double, rounded to the element type of T.
template <typename T>
Tensor make(Shape shape, const std::vector<double>& values) {
  Tensor out(dtype_of<T>, std::move(shape));
  T* to = out.mutable_data<T>();
  for (const double value : values) *to++ = static_cast<T>(value);
  return out;
}
template <typename T>
Tensor vec(const std::vector<double>& values) {
  return make<T>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

/// The strings as a tensor of one dimension.
Tensor words(const std::vector<std::string>& values);

/// The distance from 1 to the next number of a floating type of 16 bits or more; 0 for other types.
double epsilon_of(DType dtype);

/// Exact for integers, bool and string; floats within 4 units in the last place, or near 0 within 1e-7
/// (float; other types in proportion to their precision). NaN equals NaN, zeros differ by sign. Returns "" or
/// what differs.
std::string difference(const Tensor& got, const Tensor& expected);

void check_rows(const std::vector<OpRowCase>& rows);
void check_errors(const std::vector<OpErrorCase>& rows);

}  // namespace grurun::engine::testing
