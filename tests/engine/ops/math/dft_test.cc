#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/signal_case.h"

namespace grurun::engine::testing {
namespace {

const double root3 = std::sqrt(3.0);

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
      {"rank", "DFT", 20, {vec<float>({1})}, {}, bad, "[1]; DFT-20 takes [batch,"},
      {"parts", "DFT", 20, {make<float>({1, 3}, {1, 2, 3})}, {}, bad, "[1,3]; DFT-20 takes [batch,"},
      {"last axis", "DFT", 17, {x}, {attr("axis", 2)}, bad, "axis is 2"},
      {"last axis from the end", "DFT", 20, {x, none, number(-1)}, {}, bad, "axis is -1"},
      {"axis too small", "DFT", 20, {x, none, number(-4)}, {}, bad, "axis is -4"},
      {"length", "DFT", 20, {x, number(-1)}, {}, bad, "dft_length is -1, but must not be negative"},
      {"irfft of nothing",
       "DFT",
       20,
       {make<float>({1, 0, 2}, {})},
       {attr("onesided", 1), attr("inverse", 1)},
       bad,
       "the input [1,0,2] has no element along axis -2, whose inverse is wanted"},
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
      {"real, without a last axis",
       "STFT",
       17,
       {make<float>({1, 6}, {1, 2, 3, 4, 5, 6}), number(2), none, number(4)},
       {},
       {frames(2, 3, {10, 0, -2, 2, -2, 0, 18, 0, -2, 2, -2, 0})}},
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
      {"rank", "STFT", 17, {vec<float>({1, 2}), number(1)}, {}, bad, "[2]; STFT-17 takes [batch_size,"},
      {"parts",
       "STFT",
       17,
       {make<float>({1, 1, 3}, {1, 2, 3}), number(1)},
       {},
       bad,
       "[1,1,3]; STFT-17 takes"},
      {"step", "STFT", 17, {x, number(0)}, {}, bad, "frame_step is 0"},
      {"complex", "STFT", 17, {complex({1, 1}), number(1)}, {}, bad, "onesided"},
      {"too long", "STFT", 17, {x, number(1), none, number(6)}, {}, bad, "does not fit"},
      {"length", "STFT", 17, {x, number(1), none, number(0)}, {}, bad, "frame_length is 0"},
      {"lengths differ", "STFT", 17, {x, number(1), vec<float>({1, 1}), number(3)}, {}, bad, "2 elements"},
      {"window",
       "STFT",
       17,
       {x, number(1), make<float>({1, 2}, {1, 1})},
       {},
       bad,
       "[1,2]; STFT-17 takes [n]"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
