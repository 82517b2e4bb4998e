// Stages of Fourier transforms of several signals side by side: the same arithmetic as of one alone, on
// vectors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace grurun::kernels {

/// Signals side by side. An element of all of them is fft_lane_count real parts, then as many imaginary ones.
inline constexpr size_t fft_lane_count = 16;

/// A stage of Stockham's decimation in frequency: `done` transforms of radix * rest elements each, of which
/// place i splits into `radix` transforms of `rest`:
///   to[i + rest * (k + done * u)] = w^(u i done) sum over j of w^(j u length / radix) from[i + rest * (j +
///   radix * k)]
/// for k in [0, done), i in [0, rest), u in [0, radix); w = exp(-2 pi i / length), length = done * radix *
/// rest, whose powers 0 ... length - 1 `roots` holds as real and imaginary parts in turn. radix is 4 or a
/// prime of at most 13. Products and sums are rounded apart. `to` must not overlap `from`.
template <class T>
struct FftStage {
  const T* from;
  T* to;
  const T* roots;
  int64_t radix, done, rest;
};
void fft_stage(const FftStage<float>& p);
void fft_stage(const FftStage<double>& p);

}  // namespace grurun::kernels
