#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/signal_case.h"

namespace grurun::engine::testing {
namespace {

TEST(Window, Forms) {
  const Tensor four = make<std::int64_t>({}, {4}), five = make<std::int32_t>({}, {5});
  const Attributes symmetric = {attr("periodic", 0)};
  check_rows({
      {"Hann, periodic", "HannWindow", 17, {four}, {}, {vec<float>({0, .5, 1, .5})}},
      {"Hann, symmetric", "HannWindow", 17, {five}, symmetric, {vec<float>({0, .5, 1, .5, 0})}},
      {"double is computed in double",
       "HammingWindow",
       17,
       {four},
       {attr("output_datatype", 11)},
       {vec<double>({4.0 / 46, 25.0 / 46, 1, 25.0 / 46})}},
      {"Blackman",
       "BlackmanWindow",
       17,
       {four},
       {attr("output_datatype", 11)},
       {vec<double>({0, .34, 1, .34})}},
      {"integers lose the fraction",
       "HannWindow",
       17,
       {four},
       {attr("output_datatype", 3)},
       {vec<std::int8_t>({0, 0, 1, 0})}},
      {"one symmetric element has no angle",
       "HannWindow",
       17,
       {make<std::int64_t>({}, {1})},
       symmetric,
       {vec<float>({nan})}},
  });
  check_errors({
      {"nothing",
       "HannWindow",
       17,
       {make<std::int64_t>({}, {0})},
       {},
       ErrorKind::invalid_model,
       "input size is 0, but must be at least 1"},
      {"a negative size",
       "HannWindow",
       17,
       {make<std::int64_t>({}, {-1})},
       {},
       ErrorKind::invalid_model,
       "size is -1"},
      {"neither periodic nor symmetric",
       "HannWindow",
       17,
       {four},
       {attr("periodic", 2)},
       ErrorKind::invalid_model,
       "periodic is 2"},
      {"a type that is no number",
       "HannWindow",
       17,
       {four},
       {attr("output_datatype", 8)},
       ErrorKind::invalid_model,
       "string"},
  });
}

TEST(Window, PeriodicAndSymmetricInEveryType) {
  const auto type = [](DType dtype) { return attr("output_datatype", static_cast<int>(dtype)); };
  const Attributes symmetric = {attr("periodic", 0)};
  check_transforms({
      {"Hann", "HannWindow", 17, {number(4)}, {}, {vec<float>({0, 0.5, 1, 0.5})}},
      {"Hann, symmetric",
       "HannWindow",
       17,
       {Tensor::scalar(5)},
       symmetric,
       {vec<float>({0, 0.5, 1, 0.5, 0})}},
      {"Hamming", "HammingWindow", 17, {number(2)}, {}, {vec<float>({4.0 / 46, 1})}},
      {"Hamming, symmetric",
       "HammingWindow",
       17,
       {number(3)},
       symmetric,
       {vec<float>({4.0 / 46, 1, 4.0 / 46})}},
      {"Blackman", "BlackmanWindow", 17, {number(4)}, {}, {vec<float>({0, 0.34, 1, 0.34})}},
      {"Blackman, symmetric", "BlackmanWindow", 17, {number(3)}, symmetric, {vec<float>({0, 1, 0})}},
      {"double", "HannWindow", 17, {number(2)}, {type(DType::float64)}, {vec<double>({0, 1})}},
      {"float16", "HannWindow", 17, {number(2)}, {type(DType::float16)}, {vec<Float16>({0, 1})}},
      {"bfloat16", "HannWindow", 17, {number(2)}, {type(DType::bfloat16)}, {vec<BFloat16>({0, 1})}},
  });
  for (const DType dtype : {DType::uint8, DType::int8, DType::uint64, DType::int64}) {
    for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
      EXPECT_EQ(run_node(op, "", 17, {number(3)}, {type(dtype)})[0].tensor().dtype(), dtype) << op;
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
