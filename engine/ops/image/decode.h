// Image files to pixels, a decoder for each format. Each takes the bytes of a file that its first bytes say
// is of that format and returns the pixels, uint8 [height, width, 3], red, green, blue; transparency is
// dropped. nullopt: the stream is broken, or of a kind that the format allows and the decoder does not know.
// No decoder writes to stderr.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tensor/tensor.h"

namespace grurun::engine::image {

using Bytes = std::span<const std::uint8_t>;

/// More pixels than this are refused before anything is allocated for them.
inline constexpr std::int64_t max_pixels = std::int64_t{1} << 28;

/// False when a side is not positive. Throws Error(limit) above max_pixels.
bool has_pixels(std::int64_t width, std::int64_t height);

/// Uninitialised pixels [height, width, 3]; nullopt where has_pixels is false.
std::optional<Tensor> new_pixels(std::int64_t width, std::int64_t height);

/// A sample of a range [0, highest] in the range [0, 255], rounded to the nearest.
inline std::uint8_t to_8_bits(std::uint64_t sample, std::uint64_t highest) {
  return static_cast<std::uint8_t>((sample * 255 + highest / 2) / highest);
}

/// Decodes a file of any of the formats below, told by its first bytes.
std::optional<Tensor> decode(Bytes file);

std::optional<Tensor> decode_bmp(Bytes file);
std::optional<Tensor> decode_jpeg(Bytes file);
std::optional<Tensor> decode_jpeg2000(Bytes file);
std::optional<Tensor> decode_png(Bytes file);
std::optional<Tensor> decode_pnm(Bytes file);
std::optional<Tensor> decode_tiff(Bytes file);
std::optional<Tensor> decode_webp(Bytes file);

}  // namespace grurun::engine::image
