// Uniform random elements of every type, the same on every machine for the same seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tensor/splitmix.h"
#include "tensor/tensor.h"

namespace grurun::trial {

/// Numbers from the bits of SplitMix64.
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return splitmix(state_); }
  double unit() { return unit_of(next()); }
  /// In [low, high], both included.
  std::int64_t integer(std::int64_t low, std::int64_t high);

 private:
  std::uint64_t state_;
};

struct Range {
  long double low;  // holds every integer of 64 bits
  long double high;
};

/// What elements are drawn from when nobody says: [-1, 1] for floats, all values of 8-bit integers and
/// narrower ones, [0, 1] for wider ones, which mostly are indices or sizes.
Range default_range(DType dtype);

/// What of the range the type has: between the least and the greatest finite number of a float, whole numbers
/// of an integer's, 0 and 1 for bool, from 0 on for powers of two (float8e8m0); any for strings. low > high
/// when that is nothing.
Range within(DType dtype, Range range);

/// Elements of the range within the type: both ends included for integers, low only for floats, which are
/// then rounded to the type. Strings have from 1 to 8 letters, whatever the range. nullopt when the range
/// holds no value of the type.
std::optional<Tensor> random_tensor(DType dtype, const Shape& shape, Range range, RandomBits& bits);

/// "uniform in [0, 9]", "true or false", ...: how the elements were drawn, for a range that holds any.
std::string describe_draw(DType dtype, Range range);

}  // namespace grurun::trial
