// Uniform random elements of every type, the same on every machine for the same seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace grurun::cli {

/// SplitMix64: 64 bits of state, every seed a sequence of its own.
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// In [0, 1), 53 bits.
  double unit();
  /// In [low, high], both included.
  std::int64_t integer(std::int64_t low, std::int64_t high);

 private:
  std::uint64_t state_;
};

struct Range {
  double low;
  double high;
};

/// What elements are drawn from when nobody says: [-1, 1] for floats, all values of 8-bit integers and
/// narrower ones, [0, 1] for wider ones, which mostly are indices or sizes.
Range default_range(DType dtype);

/// Both ends included for integers, low only for floats, which are then rounded to the type. bool and string
/// draw from what they have, whatever the range. nullopt when the range holds no value of the type.
std::optional<Tensor> random_tensor(DType dtype, const Shape& shape, Range range, RandomBits& bits);

/// "uniform in [0, 9]", "true or false", ...: how the elements were drawn.
std::string describe_draw(DType dtype, Range range);

}  // namespace grurun::cli
