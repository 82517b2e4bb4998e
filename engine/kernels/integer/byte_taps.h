// Weighted sums of the bytes under a few taps: what depthwise convolutions of 8-bit integers are made of.
#pragma once

#include <array>
#include <cstdint>

namespace grurun::kernels {

/// Steps between sums and between their taps, and what the sums of a vector read, byte by byte.
class ByteSteps {
 public:
  /// Bytes from a sum to the next, and from a tap to the next, such that knows() says so.
  ByteSteps(int64_t stride, int64_t dilation);

  /// Whether there are instructions for it, and for such steps.
  static bool knows(int64_t stride, int64_t dilation);

  int64_t stride() const { return stride_; }
  int64_t dilation() const { return dilation_; }
  /// By lane, the 32-bit word that stands there before bytes change places within blocks of 16.
  const int32_t* words() const { return words_.data(); }
  const uint8_t* bytes() const { return bytes_.data(); }

 private:
  int64_t stride_, dilation_;
  std::array<int32_t, 16> words_;
  std::array<uint8_t, 64> bytes_;
};

/// Rows of sums of the bytes under taps, which stand in rows, too.
struct ByteTaps {
  const uint8_t* x;        // under the first tap of the first sum
  int64_t x_step;          // bytes from a row of sums to the next
  int64_t tap_step;        // bytes from a row of taps to the next
  int64_t tap_rows, taps;  // of each row so many, a multiple of 4
  const int8_t* w;         // [tap_rows, taps]
  const ByteSteps& steps;
  int32_t start;
};

/// What sum_byte_taps() may read, and not use, behind the last byte under a tap.
constexpr int64_t byte_taps_read_beyond = 64;
/// Sums are written in multiples of so many.
constexpr int64_t byte_taps_at_once = 16;

/// y[r * ldy + i] = start + sum over t and k of
/// w[t, k] * x[r * x_step + t * tap_step + i * stride + k * dilation], modulo 2^32, for r in [0, rows) and i
/// in [0, n); of the last row on to a multiple of byte_taps_at_once, and of others as far as the next one
/// begins. y must not overlap x. Runs on the calling thread.
void sum_byte_taps(const ByteTaps& p, int64_t rows, int64_t n, int32_t* y, int64_t ldy);

}  // namespace grurun::kernels
