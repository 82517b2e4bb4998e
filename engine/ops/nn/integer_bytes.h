// How convolutions of 8-bit integers take their numbers: those of x as uint8, those of w as int8.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

using ByteTypes = TypeList<std::int8_t, std::uint8_t>;

/// Of a group, so that blocks of filters that are multiplied together are not mostly empty.
constexpr std::int64_t fewest_filters = 8;

/// What is to be flipped in a number of x to make uint8 of it: it is 128 more then.
template <typename Byte>
constexpr std::uint8_t flip_of_x = std::is_signed_v<Byte> ? 0x80 : 0;

/// A number of w as int8: 128 less, if it was uint8.
template <typename Byte>
std::int8_t as_int8(Byte number) {
  return static_cast<std::int8_t>(static_cast<std::uint8_t>(number) ^ (std::is_signed_v<Byte> ? 0 : 0x80));
}

/// The zero point of x as uint8; nullptr: 0 of its type.
template <typename Byte>
std::uint8_t zero_of_x(const Tensor* zero_point) {
  const Byte given = zero_point != nullptr ? *zero_point->data<Byte>() : Byte{0};
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(given) ^ flip_of_x<Byte>);
}

/// to[i] = from[i] for i in [0, n), inline: most runs of bytes are too short for a call. `to` must not
/// overlap `from`.
inline void copy_run(const std::uint8_t* from, std::int64_t n, std::uint8_t* to) {
  const auto copy = [&]<typename Word>(std::int64_t i, Word word) {
    std::memcpy(&word, from + i, sizeof word);
    std::memcpy(to + i, &word, sizeof word);
  };
  // The last word overlaps the one before it.
  const auto by = [&]<typename Word>(Word word) {
    constexpr std::int64_t size = sizeof(Word);
    for (std::int64_t i = 0; i + size < n; i += size) copy(i, word);
    copy(n - size, word);
  };
  using Wide = std::array<std::uint64_t, 2>;
  if (n >= static_cast<std::int64_t>(sizeof(Wide))) return by(Wide{});
  if (n >= static_cast<std::int64_t>(sizeof(std::uint64_t))) return by(std::uint64_t{});
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}

/// Whether w, whose zero points are given or nullptr, is 0 at those as int8: such products need no sums of x.
inline bool is_centred(const Tensor& w, const Tensor* zero_point) {
  return dispatch(ByteTypes{}, w.dtype(), [&]<typename Byte>() {
    if (zero_point == nullptr) return as_int8(Byte{0}) == 0;
    return std::ranges::all_of(zero_point->span<Byte>(), [](Byte zero) { return as_int8(zero) == 0; });
  });
}

}  // namespace grurun::engine
