// PBM, PGM and PPM, plain (P1 to P3) and raw (P4 to P6): samples of up to 16 bits, big-endian.
#include "engine/ops/image/decode.h"

namespace grurun::engine::image {

namespace {

bool is_space(std::uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

class Reader {
 public:
  explicit Reader(Bytes file) : file_(file), at_(2) {}

  /// The next number of the header or of plain samples, after white space and comments; -1 where there is
  /// none.
  std::int64_t number() {
    skip_space();
    if (at_ >= file_.size() || !is_digit(file_[at_])) return -1;
    std::int64_t value = 0;
    for (; at_ < file_.size() && is_digit(file_[at_]); ++at_) {
      value = value * 10 + (file_[at_] - '0');
      if (value > INT32_MAX) return -1;
    }
    return value;
  }

  /// The next digit of a plain bitmap, whose digits may stand without white space.
  std::int64_t bit() {
    skip_space();
    return at_ < file_.size() && (file_[at_] == '0' || file_[at_] == '1') ? file_[at_++] - '0' : -1;
  }

  /// The bytes after the one white space that ends a header; empty where it is missing.
  Bytes raster() const {
    if (at_ >= file_.size() || !is_space(file_[at_])) return {};
    return file_.subspan(at_ + 1);
  }

 private:
  static bool is_digit(std::uint8_t byte) { return byte >= '0' && byte <= '9'; }
  void skip_space() {
    while (at_ < file_.size() && (is_space(file_[at_]) || file_[at_] == '#')) {
      const bool comment = file_[at_++] == '#';
      while (comment && at_ < file_.size() && file_[at_] != '\n' && file_[at_] != '\r') ++at_;
    }
  }

  Bytes file_;
  std::size_t at_;
};

/// Samples in the order of the file, as the number they stand for; -1 for none, and for one above highest.
class Samples {
 public:
  Samples(Reader reader, int kind, std::int64_t highest, std::int64_t width)
      : reader_(reader), kind_(kind), highest_(highest), width_(width), raster_(reader.raster()) {}

  bool enough(std::int64_t rows) const {
    if (kind_ <= 3) return true;  // found out on the way
    const std::int64_t row =
        kind_ == 4 ? (width_ + 7) / 8 : width_ * (kind_ == 6 ? 3 : 1) * (highest_ > 255 ? 2 : 1);
    return static_cast<std::int64_t>(raster_.size()) / row >= rows;
  }

  std::int64_t next() {
    const std::int64_t sample = kind_ == 1 ? reader_.bit() : kind_ <= 3 ? reader_.number() : raw();
    return sample > highest_ ? -1 : sample;
  }

 private:
  std::int64_t raw() {
    if (kind_ == 4) {
      const std::int64_t byte = column_ / 8;
      const std::int64_t bit = raster_[static_cast<std::size_t>(byte)] >> (7 - column_ % 8) & 1;
      if (++column_ == width_) {  // rows begin at a byte
        raster_ = raster_.subspan(static_cast<std::size_t>(byte) + 1);
        column_ = 0;
      }
      return bit;
    }
    const std::int64_t sample = highest_ > 255 ? raster_[0] << 8 | raster_[1] : raster_[0];
    raster_ = raster_.subspan(highest_ > 255 ? 2 : 1);
    return sample;
  }

  Reader reader_;
  int kind_;
  std::int64_t highest_;
  std::int64_t width_;
  Bytes raster_;
  std::int64_t column_ = 0;
};

}  // namespace

std::optional<Tensor> decode_pnm(Bytes file) {
  const int kind = file[1] - '0';
  Reader reader(file);
  const std::int64_t width = reader.number();
  const std::int64_t height = reader.number();
  const bool bitmap = kind == 1 || kind == 4;
  const bool color = kind == 3 || kind == 6;
  const std::int64_t highest = bitmap ? 1 : reader.number();
  if (width <= 0 || height <= 0 || highest < 1 || highest > 65535) return std::nullopt;
  Samples samples(reader, kind, highest, width);
  if (!samples.enough(height)) return std::nullopt;
  std::optional<Tensor> pixels = new_pixels(width, height);
  std::uint8_t* to = pixels->mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < width * height; ++i, to += 3) {
    for (int channel = 0; channel < 3; ++channel) {
      if (channel > 0 && !color) {
        to[channel] = to[0];
        continue;
      }
      const std::int64_t sample = samples.next();
      if (sample < 0) return std::nullopt;
      // A bitmap's 1 is black.
      to[channel] = to_8_bits(static_cast<std::uint64_t>(bitmap ? 1 - sample : sample),
                              static_cast<std::uint64_t>(highest));
    }
  }
  return pixels;
}

}  // namespace grurun::engine::image
