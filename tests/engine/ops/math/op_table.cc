#include "tests/engine/ops/math/op_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/ops/shared/cast.h"

namespace grurun::engine::testing {

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 0x1p-52;
    case DType::float32:
      return 0x1p-23;
    case DType::float16:
      return 0x1p-10;
    case DType::bfloat16:
      return 0x1p-7;
    default:
      return 0;  // 8 bits and fewer: exact
  }
}

namespace {

bool same_real(double got, double expected, double epsilon) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  if (got == expected) return std::signbit(got) == std::signbit(expected);
  if (std::isinf(got) || std::isinf(expected)) return false;
  return std::fabs(got - expected) <=
         4 * epsilon * std::fabs(expected) + (epsilon > 0 ? 1e-7 * epsilon / 0x1p-23 : 0);
}

// A row's op is a type of ai.onnx, or "domain:type".
std::vector<Value> run_row(const std::string& op, std::int64_t opset, const std::vector<Value>& inputs,
                           const Attributes& attributes, std::size_t outputs) {
  const std::size_t colon = op.find(':');
  const std::string domain = colon == std::string::npos ? "" : op.substr(0, colon);
  return run_node(colon == std::string::npos ? op : op.substr(colon + 1), domain, opset, inputs, attributes,
                  outputs);
}

}  // namespace

Tensor words(const std::vector<std::string>& values) {
  return Tensor::from<std::string>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype() || !(got.shape() == expected.shape())) {
    return fmt::format("is {} {}, expected {} {}", dtype_name(got.dtype()), got.shape().to_string(),
                       dtype_name(expected.dtype()), expected.shape().to_string());
  }
  if (got.dtype() == DType::string) {
    for (std::int64_t i = 0; i < got.size(); ++i) {
      const std::string& a = got.data<std::string>()[i];
      const std::string& b = expected.data<std::string>()[i];
      if (a != b) return fmt::format("element {} is '{}', expected '{}'", i, a, b);
    }
    return "";
  }
  if (!is_floating(got.dtype())) {
    const auto* a = static_cast<const unsigned char*>(got.raw());
    const auto* b = static_cast<const unsigned char*>(expected.raw());
    for (std::size_t i = 0; i < got.byte_size(); ++i) {
      if (a[i] != b[i]) return fmt::format("element {} differs", i / dtype_size(got.dtype()));
    }
    return "";
  }
  const Tensor a = cast_tensor(got, DType::float64);
  const Tensor b = cast_tensor(expected, DType::float64);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data<double>()[i];
    const double y = b.data<double>()[i];
    if (!same_real(x, y, epsilon_of(got.dtype())))
      return fmt::format("element {} is {}, expected {}", i, x, y);
  }
  return "";
}

void check_rows(const std::vector<OpRowCase>& rows) {
  for (const OpRowCase& row : rows) {
    const std::string label = fmt::format("{} (opset {}): {}", row.op, row.opset, row.name);
    try {
      const std::vector<Value> got =
          run_row(row.op, row.opset, row.inputs, row.attributes, row.expected.size());
      for (std::size_t i = 0; i < row.expected.size(); ++i) {
        const std::string found = difference(got[i].tensor(), row.expected[i]);
        EXPECT_TRUE(found.empty()) << label << ", output " << i << " " << found;
      }
    } catch (const Error& error) {
      ADD_FAILURE() << label << ": " << error.what();
    }
  }
}

void check_errors(const std::vector<OpErrorCase>& rows) {
  for (const OpErrorCase& row : rows) {
    const std::string label = fmt::format("{} (opset {}): {}", row.op, row.opset, row.name);
    try {
      run_row(row.op, row.opset, row.inputs, row.attributes, row.outputs);
      ADD_FAILURE() << label << ": no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), row.kind) << label << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(row.text), std::string::npos) << label << ": " << error.what();
    }
  }
}

}  // namespace grurun::engine::testing
