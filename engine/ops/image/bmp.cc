// Windows bitmaps with headers of 12 (OS/2), 40, 52, 56, 64, 108 and 124 bytes; 1, 2, 4, 8, 16, 24 and 32
// bits a pixel; uncompressed, RLE4, RLE8 or with bit masks. Embedded JPEG and PNG streams are not decoded.
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/ops/image/decode.h"

namespace grurun::engine::image {

namespace {

using Color = std::array<std::uint8_t, 3>;

enum Compression : std::uint32_t { plain = 0, rle8 = 1, rle4 = 2, bitfields = 3, alpha_bitfields = 6 };

struct Header {
  std::int64_t width, height;
  bool top_down;
  std::uint32_t bits;
  std::uint32_t compression;
  std::array<std::uint32_t, 3> masks;
  std::vector<Color> palette;
  Bytes raster;
};

/// Little-endian number of `size` bytes; 0 beyond the end, which the callers have checked.
std::uint32_t number(Bytes bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
    value |= static_cast<std::uint32_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

std::int64_t signed_number(Bytes bytes, std::size_t at) {
  return std::bit_cast<std::int32_t>(number(bytes, at, 4));
}

bool known_form(const Header& header) {
  switch (header.compression) {
    case plain:
      return header.bits == 1 || header.bits == 2 || header.bits == 4 || header.bits == 8 ||
             header.bits == 16 || header.bits == 24 || header.bits == 32;
    case rle8:
      return header.bits == 8 && !header.top_down;
    case rle4:
      return header.bits == 4 && !header.top_down;
    case bitfields:
    case alpha_bitfields:
      return header.bits == 16 || header.bits == 32;
    default:
      return false;
  }
}

std::array<std::uint32_t, 3> read_masks(Bytes file, const Header& header) {
  if (header.compression == bitfields || header.compression == alpha_bitfields) {
    // In longer headers, or right after one of 40 bytes: the same place.
    return {number(file, 54, 4), number(file, 58, 4), number(file, 62, 4)};
  }
  if (header.bits == 16) return {0x7c00, 0x3e0, 0x1f};
  return {0xff0000, 0xff00, 0xff};
}

std::optional<Header> read_header(Bytes file) {
  if (file.size() < 26) return std::nullopt;
  const std::size_t size = number(file, 14, 4);
  const bool core = size == 12;
  const bool known =
      core || size == 40 || size == 52 || size == 56 || size == 64 || size == 108 || size == 124;
  if (!known || file.size() < 14 + size) return std::nullopt;
  Header header{};
  header.width = core ? number(file, 18, 2) : signed_number(file, 18);
  header.height = core ? number(file, 20, 2) : signed_number(file, 22);
  header.top_down = header.height < 0;
  header.height = std::abs(header.height);
  header.bits = number(file, core ? 24 : 28, 2);
  header.compression = core ? plain : number(file, 30, 4);
  if (!known_form(header)) return std::nullopt;
  // In an OS/2 header of 64 bytes 3 is Huffman coding.
  if (size == 64 && header.compression >= bitfields) return std::nullopt;
  header.masks = read_masks(file, header);
  std::size_t end = 14 + size;
  if (size == 40 && header.compression == bitfields) end += 12;
  if (size == 40 && header.compression == alpha_bitfields) end += 16;
  const std::size_t start = number(file, 10, 4);
  if (start < end || start > file.size()) return std::nullopt;
  header.raster = file.subspan(start);
  if (header.bits > 8) return header;
  std::size_t colors = core ? 0 : number(file, 46, 4);
  if (colors == 0) colors = std::size_t{1} << header.bits;
  const std::size_t entry = core ? 3 : 4;
  if (colors > 256 || (start - end) / entry < colors) {
    if (!core || start - end < entry) return std::nullopt;
    colors = (start - end) / entry;  // the old form has no count: what there is room for
  }
  for (std::size_t i = 0; i < colors; ++i) {
    const std::size_t at = end + i * entry;
    header.palette.push_back({file[at + 2], file[at + 1], file[at]});
  }
  return header;
}

/// The bits of the mask in value, scaled to [0, 255]; 0 for an empty mask.
std::uint8_t masked(std::uint32_t value, std::uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  return to_8_bits((value & mask) >> shift, mask >> shift);
}

class Canvas {
 public:
  Canvas(const Header& header, Tensor& pixels) : header_(header), to_(pixels.mutable_data<std::uint8_t>()) {}

  /// Row 0 is the first of the file.
  void set(std::int64_t row, std::int64_t column, const Color& color) {
    const std::int64_t y = header_.top_down ? row : header_.height - 1 - row;
    std::memcpy(to_ + (y * header_.width + column) * 3, color.data(), 3);
  }
  /// False for a color that the palette lacks.
  bool set_indexed(std::int64_t row, std::int64_t column, std::size_t index) {
    if (index >= header_.palette.size()) return false;
    set(row, column, header_.palette[index]);
    return true;
  }

 private:
  const Header& header_;
  std::uint8_t* to_;
};

bool read_plain(const Header& header, Canvas canvas) {
  const std::int64_t stride = (header.width * header.bits + 31) / 32 * 4;
  if (static_cast<std::int64_t>(header.raster.size()) / stride < header.height) return false;
  for (std::int64_t y = 0; y < header.height; ++y) {
    const Bytes row = header.raster.subspan(static_cast<std::size_t>(y * stride));
    for (std::int64_t x = 0; x < header.width; ++x) {
      const auto bit = static_cast<std::size_t>(x) * header.bits;
      if (header.bits <= 8) {
        const unsigned index = row[bit / 8] >> (8 - header.bits - bit % 8) & ((1u << header.bits) - 1);
        if (!canvas.set_indexed(y, x, index)) return false;
      } else if (header.bits == 24) {
        canvas.set(y, x, {row[bit / 8 + 2], row[bit / 8 + 1], row[bit / 8]});
      } else {
        const std::uint32_t value = number(row, bit / 8, header.bits / 8);
        canvas.set(
            y, x,
            {masked(value, header.masks[0]), masked(value, header.masks[1]), masked(value, header.masks[2])});
      }
    }
  }
  return true;
}

// Pairs of bytes: a count and what to repeat; or 0 and an escape: 0 end of line, 1 end of bitmap, 2 a move,
// else the number of pixels that follow as such, padded to 16 bits. What no pair reaches has the color 0.
bool read_rle(const Header& header, Canvas canvas) {
  for (std::int64_t y = 0; y < header.height; ++y) {
    for (std::int64_t x = 0; x < header.width; ++x) {
      if (!canvas.set_indexed(y, x, 0)) return false;
    }
  }
  const Bytes code = header.raster;
  std::int64_t x = 0, y = 0;
  const auto put = [&](std::size_t byte, std::size_t i) {
    if (byte >= code.size() || x >= header.width || y >= header.height) return false;
    const unsigned value = code[byte];
    const unsigned index = header.compression == rle8 ? value : i % 2 == 0 ? value >> 4 : value & 15;
    return canvas.set_indexed(y, x++, index);
  };
  for (std::size_t at = 0; at + 1 < code.size();) {
    const std::size_t count = code[at], second = code[at + 1];
    at += 2;
    if (count > 0) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!put(at - 1, i)) return false;
      }
    } else if (second == 0) {
      x = 0;
      ++y;
    } else if (second == 1) {
      return true;
    } else if (second == 2) {
      if (at + 1 >= code.size()) return false;
      x += code[at];
      y += code[at + 1];
      at += 2;
    } else {
      for (std::size_t i = 0; i < second; ++i) {
        if (!put(header.compression == rle8 ? at + i : at + i / 2, i)) return false;
      }
      const std::size_t bytes = header.compression == rle8 ? second : (second + 1) / 2;
      at += bytes + bytes % 2;
    }
  }
  return y >= header.height ||
         (y == header.height - 1 && x == header.width);  // no end mark, but nothing missing
}

}  // namespace

std::optional<Tensor> decode_bmp(Bytes file) {
  const std::optional<Header> header = read_header(file);
  if (!header) return std::nullopt;
  std::optional<Tensor> pixels = new_pixels(header->width, header->height);
  if (!pixels) return std::nullopt;
  const bool runs = header->compression == rle8 || header->compression == rle4;
  const bool whole =
      runs ? read_rle(*header, Canvas(*header, *pixels)) : read_plain(*header, Canvas(*header, *pixels));
  return whole ? pixels : std::nullopt;
}

}  // namespace grurun::engine::image
