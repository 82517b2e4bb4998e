#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/signal_case.h"

namespace grurun::engine::testing {
namespace {

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
