#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/ops/type_dispatch.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

const double root3 = std::sqrt(3.0);

Tensor number(std::int64_t value) {
  return Tensor::scalar(value);
}

/// [1, n, 1]: a real signal in one batch.
template <typename T = float>
Tensor real(const std::vector<double>& values) {
  return make<T>({1, static_cast<std::int64_t>(values.size()), 1}, values);
}

/// [1, n, 2] from pairs.
template <typename T = float>
Tensor complex(const std::vector<double>& values) {
  return make<T>({1, static_cast<std::int64_t>(values.size()) / 2, 2}, values);
}

/// Rows whose outputs may be a few roundings of the largest value off, and zeros of either sign.
void check_transforms(const std::vector<OpRowCase>& rows) {
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

TEST(Dft, ForwardInverseOnesided) {
  const Value none;
  for (const std::int64_t opset : {17, 19, 20, 25}) {
    check_transforms({
        {"real", "DFT", opset, {real({1, 2, 3, 4})}, {}, {complex({10, 0, -2, 2, -2, 0, -2, -2})}},
        {"complex",
         "DFT",
         opset,
         {complex({1, 1, 0, 0, 0, 0, 0, 0})},
         {},
         {complex({1, 1, 1, 1, 1, 1, 1, 1})}},
        {"three", "DFT", opset, {real({1, 0, 2})}, {}, {complex({3, 0, 0, root3, 0, -root3})}},
        {"inverse",
         "DFT",
         opset,
         {complex({10, 0, -2, 2, -2, 0, -2, -2})},
         {attr("inverse", 1)},
         {complex({1, 0, 2, 0, 3, 0, 4, 0})}},
        {"inverse of real",
         "DFT",
         opset,
         {real({4, 0, 0, 0})},
         {attr("inverse", 1)},
         {complex({1, 0, 1, 0, 1, 0, 1, 0})}},
        {"rfft", "DFT", opset, {real({1, 2, 3, 4})}, {attr("onesided", 1)}, {complex({10, 0, -2, 2, -2, 0})}},
        {"rfft, odd", "DFT", opset, {real({1, 0, 2})}, {attr("onesided", 1)}, {complex({3, 0, 0, root3})}},
        {"irfft",
         "DFT",
         opset,
         {complex({10, 0, -2, 2, -2, 0})},
         {attr("onesided", 1), attr("inverse", 1)},
         {real({1, 2, 3, 4})}},
        {"irfft of odd length",
         "DFT",
         opset,
         {complex({3, 0, 0, root3}), number(3)},
         {attr("onesided", 1), attr("inverse", 1)},
         {real({1, 0, 2})}},
        {"irfft: imaginary parts where a real signal has none",
         "DFT",
         opset,
         {complex({10, 7, -2, 2, -2, 7})},
         {attr("onesided", 1), attr("inverse", 1)},
         {real({1, 2, 3, 4})}},
        {"padded", "DFT", opset, {real({1}), number(3)}, {}, {complex({1, 0, 1, 0, 1, 0})}},
        {"cut", "DFT", opset, {real({1, 1, 9, 9}), Tensor::scalar(2)}, {}, {complex({2, 0, 0, 0})}},
        {"one value", "DFT", opset, {complex({3, 4})}, {}, {complex({3, 4})}},
    });
  }
}

TEST(Dft, AxisIsAnAttributeThenAnInput) {
  const Tensor x = make<float>({2, 2, 1}, {1, 2, 3, 4});
  const Tensor along_0 = make<float>({2, 2, 2}, {4, 0, 6, 0, -2, 0, -2, 0});
  const Tensor along_1 = make<float>({2, 2, 2}, {3, 0, -1, 0, 7, 0, -1, 0});
  const Value none;
  const Tensor deep = make<float>({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6});
  check_transforms({
      {"default 1", "DFT", 17, {x}, {}, {along_1}},
      {"0", "DFT", 17, {x}, {attr("axis", 0)}, {along_0}},
      {"-3", "DFT", 17, {x}, {attr("axis", -3)}, {along_0}},
      {"1 is not the last but one",
       "DFT",
       17,
       {deep},
       {},
       {make<float>({1, 2, 3, 2}, {5, 0, 7, 0, 9, 0, -3, 0, -3, 0, -3, 0})}},
      {"default -2", "DFT", 20, {x}, {}, {along_1}},
      {"input 0", "DFT", 20, {x, none, number(0)}, {}, {along_0}},
      {"input -3", "DFT", 20, {x, none, number(-3)}, {}, {along_0}},
      {"with a length", "DFT", 20, {x, number(1), number(-3)}, {}, {make<float>({1, 2, 2}, {1, 0, 2, 0})}},
  });
}

TEST(Dft, EveryType) {
  const auto row = [](const char* name, std::int64_t opset, const Tensor& x, const Tensor& y) {
    return OpRowCase{name, "DFT", opset, {x}, {}, {y}};
  };
  const std::vector<double> x = {1, 2, 3, 4, 5, 6},
                            y = {21, 0, -3, 3 * root3, -3, root3, -3, 0, -3, -root3, -3, -3 * root3};
  check_transforms({
      row("double", 17, real<double>(x), complex<double>(y)),
      row("float", 17, real<float>(x), complex<float>(y)),
      row("float16", 17, real<Float16>(x), complex<Float16>(y)),
      row("bfloat16", 17, real<BFloat16>(x), complex<BFloat16>(y)),
      row("double", 20, real<double>(x), complex<double>(y)),
      row("float16", 20, real<Float16>(x), complex<Float16>(y)),
      row("bfloat16", 20, real<BFloat16>(x), complex<BFloat16>(y)),
  });
}

TEST(Dft, LargePrimeLengthOfFloat) {
  const std::int64_t n = 1009;
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::cos(2 * std::numbers::pi * 5 * static_cast<double>(i) / static_cast<double>(n));
  const Tensor y = run_node("DFT", "", 20, {real<float>(x)})[0].tensor();
  for (std::int64_t k = 0; k < n; ++k) {
    EXPECT_NEAR(y.data<float>()[2 * k], k == 5 || k == n - 5 ? 504.5 : 0, 1e-4) << k;
    EXPECT_NEAR(y.data<float>()[2 * k + 1], 0, 1e-4) << k;
  }
}

TEST(Dft, NothingToTransform) {
  check_rows({
      {"no batch", "DFT", 20, {make<float>({0, 4, 1}, {})}, {}, {make<float>({0, 4, 2}, {})}},
      {"no signal", "DFT", 20, {make<float>({1, 0, 1}, {})}, {}, {make<float>({1, 0, 2}, {})}},
      {"a sum of nothing",
       "DFT",
       20,
       {make<float>({1, 0, 1}, {})},
       {attr("onesided", 1)},
       {make<float>({1, 1, 2}, {0, 0})}},
      {"padded", "DFT", 20, {make<float>({1, 0, 1}, {}), number(1)}, {}, {make<float>({1, 1, 2}, {0, 0})}},
  });
}

TEST(Dft, Refused) {
  const auto bad = ErrorKind::invalid_model;
  const Tensor x = real({1, 2}), z = complex({1, 2});
  const Value none;
  check_errors({
      {"rank", "DFT", 20, {vec<float>({1})}, {}, bad, "rank 2"},
      {"parts", "DFT", 20, {make<float>({1, 3}, {1, 2, 3})}, {}, bad, "last dimension"},
      {"last axis", "DFT", 17, {x}, {attr("axis", 2)}, bad, "axis is 2"},
      {"last axis from the end", "DFT", 20, {x, none, number(-1)}, {}, bad, "axis is -1"},
      {"axis too small", "DFT", 20, {x, none, number(-4)}, {}, bad, "axis is -4"},
      {"length", "DFT", 20, {x, number(-1)}, {}, bad, "length -1"},
      {"irfft of nothing",
       "DFT",
       20,
       {make<float>({1, 0, 2}, {})},
       {attr("onesided", 1), attr("inverse", 1)},
       bad,
       "length -2"},
      {"length is no scalar", "DFT", 20, {x, vec<std::int64_t>({1, 2})}, {}, bad, "dft_length"},
      {"rfft of complex", "DFT", 20, {z}, {attr("onesided", 1)}, bad, "takes real input"},
      {"irfft of real", "DFT", 20, {x}, {attr("onesided", 1), attr("inverse", 1)}, bad, "takes complex"},
      {"onesided", "DFT", 20, {x}, {attr("onesided", 2)}, bad, "onesided is 2"},
      {"no memory", "DFT", 20, {x, number(INT64_MAX / 2)}, {}, ErrorKind::limit, ""},
  });
}

TEST(Stft, FramesWindowsAndSides) {
  const Tensor x = real({1, 2, 3, 4, 5, 6});
  const Value none;
  const auto frames = [](std::int64_t count, std::int64_t bins, const std::vector<double>& values) {
    return make<float>({1, count, bins, 2}, values);
  };
  check_transforms({
      {"two halves",
       "STFT",
       17,
       {x, number(2), none, number(4)},
       {},
       {frames(2, 3, {10, 0, -2, 2, -2, 0, 18, 0, -2, 2, -2, 0})}},
      {"both sides",
       "STFT",
       17,
       {x, number(3), none, Tensor::scalar<std::int64_t>(3)},
       {attr("onesided", 0)},
       {frames(2, 3, {6, 0, -1.5, root3 / 2, -1.5, -root3 / 2, 15, 0, -1.5, root3 / 2, -1.5, -root3 / 2})}},
      {"window",
       "STFT",
       17,
       {x, number(4), vec<float>({1, 0})},
       {},
       {frames(2, 2, {1, 0, 1, 0, 5, 0, 5, 0})}},
      {"window and length",
       "STFT",
       17,
       {x, number(9), vec<float>({0, 1}), number(2)},
       {},
       {frames(1, 2, {2, 0, -2, 0})}},
      {"one frame", "STFT", 17, {real({1, 1}), number(1)}, {}, {frames(1, 2, {2, 0, 0, 0})}},
      {"complex",
       "STFT",
       17,
       {complex({1, 1, 0, 0}), number(1)},
       {attr("onesided", 0)},
       {frames(1, 2, {1, 1, 1, 1})}},
      {"less than a step too short",
       "STFT",
       17,
       {real({1, 1}), number(2), none, number(3)},
       {},
       {frames(0, 2, {})}},
      {"batches",
       "STFT",
       17,
       {make<double>({2, 2, 1}, {1, 2, 3, 4}), Tensor::scalar(1)},
       {},
       {make<double>({2, 1, 2, 2}, {3, 0, -1, 0, 7, 0, -1, 0})}},
      {"float16",
       "STFT",
       17,
       {real<Float16>({1, 2}), number(1), vec<Float16>({1, 2})},
       {},
       {make<Float16>({1, 1, 2, 2}, {5, 0, -3, 0})}},
      {"bfloat16",
       "STFT",
       17,
       {real<BFloat16>({1, 2}), number(1), vec<BFloat16>({1, 2})},
       {},
       {make<BFloat16>({1, 1, 2, 2}, {5, 0, -3, 0})}},
  });
}

TEST(Stft, Refused) {
  const auto bad = ErrorKind::invalid_model;
  const Tensor x = real({1, 2, 3, 4});
  const Value none;
  check_errors({
      {"rank", "STFT", 17, {vec<float>({1, 2}), number(1)}, {}, bad, "signal must have shape"},
      {"parts", "STFT", 17, {make<float>({1, 1, 3}, {1, 2, 3}), number(1)}, {}, bad, "1 or 2"},
      {"step", "STFT", 17, {x, number(0)}, {}, bad, "frame_step is 0"},
      {"complex", "STFT", 17, {complex({1, 1}), number(1)}, {}, bad, "onesided"},
      {"too long", "STFT", 17, {x, number(1), none, number(6)}, {}, bad, "does not fit"},
      {"length", "STFT", 17, {x, number(1), none, number(0)}, {}, bad, "frame_length is 0"},
      {"lengths differ", "STFT", 17, {x, number(1), vec<float>({1, 1}), number(3)}, {}, bad, "2 elements"},
      {"window", "STFT", 17, {x, number(1), make<float>({1, 2}, {1, 1})}, {}, bad, "one dimension"},
  });
}

std::vector<Value> scale(std::int64_t bins, std::int64_t length, std::int64_t rate, const Tensor& low,
                         const Tensor& high) {
  return {number(bins), number(length), number(rate), low, high};
}

TEST(MelWeightMatrix, TrianglesInEveryType) {
  // Edges at the bins 1, 2, 4 and 6 of 11.
  std::vector<double> weights(22);
  weights[4] = weights[9] = 1;
  weights[6] = weights[7] = weights[11] = 0.5;
  std::vector<double> truncated = weights;
  for (double& weight : truncated) weight = std::floor(weight);
  const Shape shape{11, 2};
  const auto row = [&](const Tensor& expected) {
    return OpRowCase{dtype_name(expected.dtype()),
                     "MelWeightMatrix",
                     17,
                     scale(2, 20, 8000, make<float>({}, {500}), make<float>({}, {4000})),
                     {attr("output_datatype", static_cast<int>(expected.dtype()))},
                     {expected}};
  };
  check_rows({
      row(make<double>(shape, weights)),
      row(make<float>(shape, weights)),
      row(make<Float16>(shape, weights)),
      row(make<BFloat16>(shape, weights)),
      row(make<std::uint8_t>(shape, truncated)),
      row(make<std::int8_t>(shape, truncated)),
      row(make<std::int64_t>(shape, truncated)),
      row(make<std::uint64_t>(shape, truncated)),
  });
  const Tensor expected = make<float>(shape, weights);
  check_rows({
      {"double edges",
       "MelWeightMatrix",
       17,
       scale(2, 20, 8000, make<double>({}, {500}), make<double>({}, {4000})),
       {},
       {expected}},
      {"float16 edges",
       "MelWeightMatrix",
       17,
       scale(2, 20, 8000, make<Float16>({}, {500}), make<Float16>({}, {4000})),
       {},
       {expected}},
      {"int32 sizes",
       "MelWeightMatrix",
       17,
       {Tensor::scalar(2), Tensor::scalar(20), Tensor::scalar(8000), make<BFloat16>({}, {500}),
        make<BFloat16>({}, {4000})},
       {},
       {expected}},
      {"two edges in one bin",
       "MelWeightMatrix",
       17,
       scale(2, 16, 16384, make<float>({}, {0}), make<float>({}, {8192})),
       {},
       {make<float>({9, 2}, {1, 0, 0, 1, 0, 2.0 / 3, 0, 1.0 / 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}},
  });
}

TEST(MelWeightMatrix, BinsBeyondTheSpectrumAreLeftOut) {
  const Tensor all =
      run_node("MelWeightMatrix", "", 17, scale(3, 8, 100, make<float>({}, {0}), make<float>({}, {400})))[0]
          .tensor();
  EXPECT_EQ(all.shape(), (Shape{5, 3}));
  for (const float weight : all.span<float>()) EXPECT_TRUE(weight >= 0 && weight <= 1);
  check_rows({{"no bands",
               "MelWeightMatrix",
               17,
               scale(0, 8, 100, make<float>({}, {0}), make<float>({}, {40})),
               {},
               {make<float>({5, 0}, {})}}});
}

TEST(Windows, PeriodicAndSymmetricInEveryType) {
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

TEST(MelWeightMatrix, Refused) {
  const auto bad = ErrorKind::invalid_model;
  const auto row = [&](const char* text, std::int64_t bins, std::int64_t length, std::int64_t rate,
                       double low, double high) {
    return OpErrorCase{text, "MelWeightMatrix",
                       17,   scale(bins, length, rate, make<float>({}, {low}), make<float>({}, {high})),
                       {},   bad,
                       text};
  };
  check_errors({
      row("num_mel_bins", -1, 8, 100, 0, 50),
      row("dft_length", 1, -8, 100, 0, 50),
      row("sample_rate", 1, 8, 0, 0, 50),
      row("lower_edge_hertz", 1, 8, 100, -1, 50),
      row("upper_edge_hertz", 1, 8, 100, 50, 40),
      row("upper_edge_hertz", 1, 8, 100, 0, std::nan("")),
  });
}

}  // namespace
}  // namespace grurun::engine::testing
