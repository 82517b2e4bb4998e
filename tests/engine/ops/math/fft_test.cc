#include "engine/ops/math/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::engine {
namespace {

template <typename Real>
std::vector<std::complex<Real>> random_signal(std::int64_t length) {
  std::mt19937 generator(static_cast<unsigned>(length));
  std::normal_distribution<Real> normal;
  std::vector<std::complex<Real>> x(static_cast<std::size_t>(length));
  for (auto& value : x) value = {normal(generator), normal(generator)};
  return x;
}

/// The definition, summed term by term.
template <typename Real>
std::complex<long double> term_by_term(const std::vector<std::complex<Real>>& x, std::size_t k) {
  std::complex<long double> sum = 0;
  const auto length = static_cast<long double>(x.size());
  for (std::size_t n = 0; n < x.size(); ++n) {
    const auto turn = static_cast<long double>(k * n % x.size()) / length;
    sum += std::complex<long double>(x[n]) * std::polar(1.0L, -2 * std::numbers::pi_v<long double> * turn);
  }
  return sum;
}

/// Largest error relative to the root mean square of the spectrum, over some of its values.
template <typename Real>
double forward_error(std::int64_t length) {
  const Fft<Real> fft(length);
  const auto x = random_signal<Real>(length);
  auto y = x;
  std::vector<std::complex<Real>> scratch(static_cast<std::size_t>(fft.scratch_size()));
  fft.forward(y.data(), scratch.data());
  double worst = 0;
  const std::size_t step = std::max<std::size_t>(1, y.size() / 16);
  for (std::size_t k = 0; k < y.size(); k += step) {
    const auto difference = std::abs(std::complex<long double>(y[k]) - term_by_term(x, k));
    worst = std::max(worst, static_cast<double>(difference) / std::sqrt(2.0 * static_cast<double>(length)));
  }
  return worst;
}

/// Signals side by side beside one after the other.
template <typename Real>
void expect_the_same_together(std::int64_t length, std::int64_t count, bool backwards) {
  using Complex = std::complex<Real>;
  const Fft<Real> fft(length);
  const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(i * length); };
  const std::vector<Complex> x = random_signal<Real>(length * count);
  std::vector<Complex> together(x.size()), alone(x);
  std::vector<Complex> scratch(static_cast<std::size_t>(fft.scratch_size()));
  fft.transform_all(
      count, backwards, [&](std::int64_t i, Complex* to) { std::copy_n(x.data() + at(i), length, to); },
      [&](std::int64_t i, const Complex* from) { std::copy_n(from, length, together.data() + at(i)); });
  for (std::int64_t i = 0; i < count; ++i) {
    Complex* one = alone.data() + at(i);
    backwards ? fft.backward(one, scratch.data()) : fft.forward(one, scratch.data());
  }
  EXPECT_EQ(together, alone) << count << " of " << length;
}

class FftTogether : public kernels::EveryTarget {};
GRURUN_FOR_EVERY_TARGET(FftTogether);

TEST_P(FftTogether, HasTheBitsOfOneAlone) {
  for (const std::int64_t length : {1, 2, 3, 4, 5, 7, 8, 11, 13, 17, 60, 128, 400, 1001, 9000}) {
    for (const std::int64_t count : {1, 4, 16, 37}) {
      expect_the_same_together<float>(length, count, false);
      expect_the_same_together<float>(length, count, true);
      expect_the_same_together<double>(length, count, false);
    }
  }
}

TEST(Fft, IsTheSumOfItsDefinitionForEveryLength) {
  for (std::int64_t length = 1; length <= 130; ++length) {
    EXPECT_LT(forward_error<double>(length), 4e-15) << length;
    if (has_small_factors(length)) {
      EXPECT_LT(forward_error<float>(length), 2e-6) << length;
    }
  }
  for (const std::int64_t length : {1000, 1024, 2187, 4093, 4096, 15015, 17 * 256, 65537}) {
    EXPECT_LT(forward_error<double>(length), 2e-14) << length;
  }
}

TEST(Fft, OnlySmallPrimesAreSmallFactors) {
  for (const std::int64_t length : {1, 2, 4, 8, 13, 400, 1001, 30030, 1 << 20}) {
    EXPECT_TRUE(has_small_factors(length)) << length;
  }
  for (const std::int64_t length : {17, 34, 289, 65537}) EXPECT_FALSE(has_small_factors(length)) << length;
}

TEST(Fft, BackwardUndoesForward) {
  for (const std::int64_t length : {1, 2, 3, 12, 17, 60, 101, 1000}) {
    const Fft<double> fft(length);
    const auto x = random_signal<double>(length);
    auto y = x;
    std::vector<Complex128> scratch(static_cast<std::size_t>(fft.scratch_size()));
    fft.forward(y.data(), scratch.data());
    fft.backward(y.data(), scratch.data());
    for (std::size_t n = 0; n < x.size(); ++n) {
      EXPECT_LT(std::abs(y[n] / static_cast<double>(length) - x[n]), 1e-13) << length << " at " << n;
    }
  }
}

}  // namespace
}  // namespace grurun::engine
