// Fourier transforms of one length: what DFT and STFT compute with.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/fft_lanes.h"
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

  /// Transforms `count` signals on all threads: read(i, x) puts number i into x [length()], write(i, x) takes
  /// what became of it. The bits are those of forward() and backward(); several go side by side where they
  /// can.
  template <typename Read, typename Write>
  void transform_all(std::int64_t count, bool backwards, const Read& read, const Write& write) const;

 private:
  static constexpr auto lanes = static_cast<std::int64_t>(kernels::fft_lane_count);

  /// Signals that go side by side.
  std::int64_t width(std::int64_t count) const;
  /// x and scratch [length(), 2, lanes]; the result, in one of them.
  Real* forward_lanes(Real* x, Real* scratch) const;

  void mixed_radix(Complex* x, Complex* scratch) const;
  void bluestein(Complex* x, Complex* scratch) const;

  std::int64_t length_;
  std::vector<std::int64_t> factors_;  // of length_; empty with Bluestein
  Tensor roots_;                       // exp(-2 pi i n / N); with Bluestein its chirp exp(-pi i n^2 / N)
  std::unique_ptr<const Fft> convolution_;
  Tensor kernel_;  // Bluestein: the transform of the conjugate chirp, divided by its length
};

template <typename Real>
template <typename Read, typename Write>
void Fft<Real>::transform_all(std::int64_t count, bool backwards, const Read& read,
                              const Write& write) const {
  const std::int64_t together = width(count), groups = (count + together - 1) / together;
  const std::int64_t size = together == 1 ? scratch_size() : 2 * lanes * length_;
  kernels::parallel_for(groups, 4096 / (together * length_) + 1, [&](std::int64_t begin, std::int64_t end) {
    Tensor memory(dtype_of<Complex>, Shape{length_ + size});
    Complex* const x = memory.mutable_data<Complex>();
    Complex* const scratch = x + length_;
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * together, last = std::min(count, first + together);
      if (together == 1) {
        read(first, x);
        backwards ? backward(x, scratch) : forward(x, scratch);
        write(first, x);
        continue;
      }
      // Backwards is forwards between conjugates.
      const Real sign = backwards ? Real(-1) : Real(1);
      auto* const side_by_side = reinterpret_cast<Real*>(scratch);
      for (std::int64_t i = first; i < first + lanes; ++i) {
        if (i < last) read(i, x);
        Real* to = side_by_side + (i - first);
        for (std::int64_t n = 0; n < length_; ++n, to += 2 * lanes) {
          to[0] = x[n].real();  // lanes without a signal repeat the last one
          to[lanes] = sign * x[n].imag();
        }
      }
      const Real* const made = forward_lanes(side_by_side, side_by_side + 2 * lanes * length_);
      for (std::int64_t i = first; i < last; ++i) {
        const Real* from = made + (i - first);
        for (std::int64_t n = 0; n < length_; ++n, from += 2 * lanes) x[n] = {from[0], sign * from[lanes]};
        write(i, x);
      }
    }
  });
}

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
