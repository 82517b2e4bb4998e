#include "engine/ops/math/fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <numbers>

namespace grurun::engine {

namespace {

constexpr std::int64_t largest_radix = 13;

// std::complex's own product looks for infinities in every NaN.
template <typename Real>
inline std::complex<Real> times(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// exp(-2 pi i k / n) for 0 <= k < n, from an angle of at most pi / 4, so that it is good to the last place.
template <typename Real>
std::complex<Real> root(std::uint64_t k, std::uint64_t n) {
  // Eighths of a turn: 8k / n = octant + rest / n.
  const auto wide = static_cast<unsigned __int128>(k) * 8;
  const auto octant = static_cast<unsigned>(wide / n);
  const auto rest = static_cast<double>(static_cast<std::uint64_t>(wide % n)) / static_cast<double>(n);
  const bool mirrored = octant % 2 == 1;
  const double angle = (mirrored ? 1 - rest : rest) * std::numbers::pi / 4;
  const auto c = static_cast<Real>(mirrored ? std::sin(angle) : std::cos(angle));
  const auto s = static_cast<Real>(mirrored ? std::cos(angle) : std::sin(angle));
  switch (octant / 2) {
    case 0:
      return {c, -s};
    case 1:
      return {-s, -c};
    case 2:
      return {-c, s};
    default:
      return {s, c};
  }
}

/// Factors of at most largest_radix whose product is n, fours first but for a single two before them; empty
/// for 1, and where a prime factor is larger.
std::vector<std::int64_t> small_factors(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (const std::int64_t p : std::initializer_list<std::int64_t>{2, 3, 5, 7, 11, largest_radix}) {
    for (; n % p == 0; n /= p) factors.insert(p == 2 ? factors.begin() : factors.end(), p);
  }
  if (n > 1) factors.clear();
  return factors;
}

template <typename Real>
std::complex<Real>* elements(Tensor& tensor) {
  return tensor.mutable_data<std::complex<Real>>();
}

/// y[u] = sum_j t[j] exp(-2 pi i u j / p) for an odd p, in place; w[turn] is that root of unity.
template <typename Real>
void odd_butterfly(std::complex<Real>* t, std::int64_t p, const std::complex<Real>* w, std::int64_t turn) {
  using Complex = std::complex<Real>;
  const std::int64_t half = p / 2;
  Complex sums[largest_radix / 2], differences[largest_radix / 2], all = t[0];
  for (std::int64_t j = 1; j <= half; ++j) {
    sums[j - 1] = t[j] + t[p - j];
    differences[j - 1] = t[j] - t[p - j];
    all += sums[j - 1];
  }
  const Complex first = t[0];
  for (std::int64_t u = 1; u <= half; ++u) {
    Complex even = first, odd{};
    for (std::int64_t j = 1; j <= half; ++j) {
      const Complex angle = w[u * j % p * turn];
      even += angle.real() * sums[j - 1];
      odd += angle.imag() * differences[j - 1];
    }
    const Complex turned{-odd.imag(), odd.real()};
    t[u] = even + turned;
    t[p - u] = even - turned;
  }
  t[0] = all;
}

template <typename Real>
void butterfly(std::complex<Real>* t, std::int64_t p, const std::complex<Real>* w, std::int64_t turn) {
  using Complex = std::complex<Real>;
  if (p == 2) {
    const Complex sum = t[0] + t[1];
    t[1] = t[0] - t[1];
    t[0] = sum;
  } else if (p == 4) {
    const Complex even = t[0] + t[2], odd = t[1] + t[3];
    const Complex cross = t[0] - t[2], turned{t[1].imag() - t[3].imag(), t[3].real() - t[1].real()};
    t[0] = even + odd;
    t[1] = cross + turned;
    t[2] = even - odd;
    t[3] = cross - turned;
  } else {
    odd_butterfly(t, p, w, turn);
  }
}

}  // namespace

bool has_small_factors(std::int64_t length) {
  return length == 1 || !small_factors(length).empty();
}

template <typename Real>
Fft<Real>::Fft(std::int64_t length)
    : length_(length), factors_(small_factors(length)), roots_(dtype_of<Complex>, Shape{length}) {
  Complex* roots = elements<Real>(roots_);
  const auto n = static_cast<std::uint64_t>(length);
  if (length == 1 || !factors_.empty()) {
    for (std::uint64_t k = 0; k < n; ++k) roots[k] = root<Real>(k, n);
    return;
  }
  // k n = (k^2 + n^2 - (k - n)^2) / 2 turns the sum into a convolution with the conjugate chirp.
  for (std::uint64_t k = 0; k < n; ++k) {
    const auto square = static_cast<unsigned __int128>(k) * k;
    roots[k] = root<Real>(static_cast<std::uint64_t>(square % (2 * n)), 2 * n);
  }
  const auto padded = static_cast<std::int64_t>(std::bit_ceil(2 * n - 1));
  convolution_ = std::make_unique<const Fft>(padded);
  kernel_ = Tensor::zeros(dtype_of<Complex>, Shape{padded});
  Complex* kernel = elements<Real>(kernel_);
  for (std::int64_t k = 0; k < length; ++k) {
    kernel[k] = std::conj(roots[k]) / static_cast<Real>(padded);
    if (k > 0) kernel[padded - k] = kernel[k];
  }
  Tensor scratch(dtype_of<Complex>, Shape{convolution_->scratch_size()});
  convolution_->forward(kernel, elements<Real>(scratch));
}

template <typename Real>
std::int64_t Fft<Real>::scratch_size() const {
  return convolution_ ? kernel_.size() + convolution_->scratch_size() : length_;
}

template <typename Real>
void Fft<Real>::forward(Complex* x, Complex* scratch) const {
  if (convolution_) {
    bluestein(x, scratch);
  } else {
    mixed_radix(x, scratch);
  }
}

template <typename Real>
void Fft<Real>::backward(Complex* x, Complex* scratch) const {
  const auto conjugate = [&] {
    std::transform(x, x + length_, x, [](Complex value) { return std::conj(value); });
  };
  conjugate();
  forward(x, scratch);
  conjugate();
}

// Stockham's form of decimation in frequency, which needs no bit reversal. Before a stage there are `done`
// independent transforms of p * rest elements each; place i of each splits into p transforms of `rest`.
template <typename Real>
void Fft<Real>::mixed_radix(Complex* x, Complex* scratch) const {
  const Complex* w = roots_.data<Complex>();
  Complex* from = x;
  Complex* to = scratch;
  std::int64_t done = 1;
  for (const std::int64_t p : factors_) {
    const std::int64_t rest = length_ / (done * p);
    for (std::int64_t k = 0; k < done; ++k) {
      for (std::int64_t i = 0; i < rest; ++i) {
        Complex t[largest_radix];
        for (std::int64_t j = 0; j < p; ++j) t[j] = from[i + rest * (j + p * k)];
        butterfly(t, p, w, length_ / p);
        Complex* y = to + i + rest * k;
        y[0] = t[0];
        for (std::int64_t u = 1; u < p; ++u)
          y[rest * done * u] = i == 0 ? t[u] : times(t[u], w[u * i * done]);
      }
    }
    std::swap(from, to);
    done *= p;
  }
  if (from != x) std::copy(from, from + length_, x);
}

template <typename Real>
std::int64_t Fft<Real>::width(std::int64_t count) const {
  constexpr std::int64_t fewest = 4;          // of `lanes`, which all take the time of one
  constexpr std::int64_t most_length = 8192;  // beyond it, signals side by side are not in cache
  return convolution_ == nullptr && count >= fewest && length_ <= most_length ? lanes : 1;
}

template <typename Real>
Real* Fft<Real>::forward_lanes(Real* x, Real* scratch) const {
  const auto* roots = reinterpret_cast<const Real*>(roots_.data<Complex>());
  std::int64_t done = 1;
  for (const std::int64_t p : factors_) {
    kernels::fft_stage(kernels::FftStage<Real>{x, scratch, roots, p, done, length_ / (done * p)});
    std::swap(x, scratch);
    done *= p;
  }
  return x;
}

template <typename Real>
void Fft<Real>::bluestein(Complex* x, Complex* scratch) const {
  const Complex* chirp = roots_.data<Complex>();
  const Complex* kernel = kernel_.data<Complex>();
  const std::int64_t padded = kernel_.size();
  Complex* product = scratch;
  for (std::int64_t k = 0; k < length_; ++k) product[k] = times(x[k], chirp[k]);
  std::fill(product + length_, product + padded, Complex());
  convolution_->forward(product, scratch + padded);
  for (std::int64_t k = 0; k < padded; ++k) product[k] = times(product[k], kernel[k]);
  convolution_->backward(product, scratch + padded);
  for (std::int64_t k = 0; k < length_; ++k) x[k] = times(product[k], chirp[k]);
}

template class Fft<float>;
template class Fft<double>;

}  // namespace grurun::engine
