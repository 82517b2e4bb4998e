// Fourier transforms of one length: what DFT and STFT compute with.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace grurun::engine {

/// X[k] = sum_n x[n] exp(-2 pi i k n / N) for any N >= 1 in O(N log N), in Real (float or double): mixed
/// radix where N has small prime factors only, else Bluestein's convolution with a length that has. Tables
/// are made once; transforms may run from several threads at once, each with its own scratch.
template <typename Real>
class Fft {
 public:
  using Complex = std::complex<Real>;

  explicit Fft(std::int64_t length);

  std::int64_t length() const { return length_; }
  /// Elements that `scratch` must hold.
  std::int64_t scratch_size() const;

  /// Transforms x [length()] in place.
  void forward(Complex* x, Complex* scratch) const;
  /// x[n] = sum_k X[k] exp(2 pi i k n / N), not divided by N.
  void backward(Complex* x, Complex* scratch) const;

 private:
  void mixed_radix(Complex* x, Complex* scratch) const;
  void bluestein(Complex* x, Complex* scratch) const;

  std::int64_t length_;
  std::vector<std::int64_t> factors_;  // of length_; empty with Bluestein
  Tensor roots_;                       // exp(-2 pi i n / N); with Bluestein its chirp exp(-pi i n^2 / N)
  std::unique_ptr<const Fft> convolution_;
  Tensor kernel_;  // Bluestein: the transform of the conjugate chirp, divided by its length
};

extern template class Fft<float>;
extern template class Fft<double>;

/// The spectrum X [N] of a real signal: X[N - k] is the conjugate of X[k], so X[0] and X[N/2] are real. Makes
/// both exactly so.
template <typename Real>
void make_symmetric(std::complex<Real>* X, std::int64_t length) {
  X[0] = X[0].real();
  if (length % 2 == 0) X[length / 2] = X[length / 2].real();
  for (std::int64_t k = 1; k < (length + 1) / 2; ++k) X[length - k] = std::conj(X[k]);
}

/// True when N has no prime factor for which Bluestein's convolution is needed.
bool has_small_factors(std::int64_t length);

/// body(transform) with one in the precision in which elements of type T are transformed: double for double
/// and where Bluestein's convolution, which loses more, is needed; else float.
template <typename T, typename Body>
void with_fft(std::int64_t length, Body&& body) {
  if (std::is_same_v<T, double> || !has_small_factors(length)) {
    body(Fft<double>(length));
  } else {
    body(Fft<float>(length));
  }
}

}  // namespace grurun::engine
