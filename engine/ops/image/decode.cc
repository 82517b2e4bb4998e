#include "engine/ops/image/decode.h"

#include <string_view>

#include "tensor/error.h"

namespace grurun::engine::image {

using namespace std::string_view_literals;

bool has_pixels(std::int64_t width, std::int64_t height) {
  if (width <= 0 || height <= 0) return false;
  if (height > max_pixels / width) {
    fail(ErrorKind::limit, "the image has {} x {} pixels, but at most {} are decoded", width, height,
         max_pixels);
  }
  return true;
}

std::optional<Tensor> new_pixels(std::int64_t width, std::int64_t height) {
  if (!has_pixels(width, height)) return std::nullopt;
  return Tensor(DType::uint8, {height, width, 3});
}

std::optional<Tensor> decode(Bytes file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with("BM")) return decode_bmp(file);
  if (text.starts_with("\xff\xd8\xff")) return decode_jpeg(file);
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(file);
  if (text.starts_with("RIFF") && text.substr(0, 12).ends_with("WEBP")) return decode_webp(file);
  if (text.starts_with("\0\0\0\x0cjP  \r\n\x87\n"sv) || text.starts_with("\xff\x4f\xff\x51")) {
    return decode_jpeg2000(file);
  }
  // The last two are BigTIFF.
  for (const std::string_view mark : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (text.starts_with(mark)) return decode_tiff(file);
  }
  if (text.size() > 2 && text[0] == 'P' && text[1] >= '1' && text[1] <= '6') return decode_pnm(file);
  return std::nullopt;
}

}  // namespace grurun::engine::image
