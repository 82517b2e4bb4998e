// Signals, and what transforms of them must come near to.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "tensor/dispatch.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {

inline Tensor number(std::int64_t value) {
  return Tensor::scalar(value);
}

/// [1, n, 1]: a real signal in one batch.
template <typename T = float>
inline Tensor real(const std::vector<double>& values) {
  return make<T>({1, static_cast<std::int64_t>(values.size()), 1}, values);
}

/// [1, n, 2] from pairs.
template <typename T = float>
inline Tensor complex(const std::vector<double>& values) {
  return make<T>({1, static_cast<std::int64_t>(values.size()) / 2, 2}, values);
}

/// Rows whose outputs may be a few roundings of the largest value off, and zeros of either sign.
inline void check_transforms(const std::vector<OpRowCase>& rows) {
  for (const OpRowCase& row : rows) {
    const Tensor got = run_node(row.op, "", row.opset, row.inputs, row.attributes)[0].tensor();
    const Tensor& expected = row.expected[0];
    ASSERT_EQ(got.dtype(), expected.dtype()) << row.name;
    ASSERT_EQ(got.shape(), expected.shape()) << row.name;
    dispatch(Floats{}, got.dtype(), [&]<typename T>() {
      const double epsilon = std::is_same_v<T, double>    ? 0x1p-52
                             : std::is_same_v<T, float>   ? 0x1p-23
                             : std::is_same_v<T, Float16> ? 0x1p-10
                                                          : 0x1p-7;
      for (std::int64_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(got.data<T>()[i]), static_cast<double>(expected.data<T>()[i]),
                    32 * epsilon)
            << row.name << " (opset " << row.opset << ") at " << i;
      }
    });
  }
}

}  // namespace grurun::engine::testing
