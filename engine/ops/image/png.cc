// PNG through libpng: every color type and depth, interlaced or not. Samples of 16 bits are scaled to 8;
// gamma and color profiles are not applied.
//
// The library leaves by longjmp where a file is broken; between there and the setjmp lie only frames of C and
// of functions without destructors.
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "engine/ops/image/decode.h"

namespace grurun::engine::image {

namespace {

class Png {
 public:
  explicit Png(Bytes file) : rest_(file) {
    png_ = png_create_read_struct(
        PNG_LIBPNG_VER_STRING, nullptr, [](png_structp png, png_const_charp) { png_longjmp(png, 1); },
        [](png_structp, png_const_charp) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~Png() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  std::optional<Tensor> decode() {
    if (info_ == nullptr || !guarded([this] { read_header(); })) return std::nullopt;
    std::optional<Tensor> pixels =
        new_pixels(png_get_image_width(png_, info_), png_get_image_height(png_, info_));
    if (!pixels || row_bytes_ != static_cast<std::size_t>(pixels->dim(1)) * 3) return std::nullopt;
    std::uint8_t* const to = pixels->mutable_data<std::uint8_t>();
    const std::int64_t height = pixels->dim(0);
    if (!guarded([=, this] { read_rows(to, height); })) return std::nullopt;
    return pixels;
  }

 private:
  /// False when the library gave up in step, which must not own anything.
  template <typename Step>
  bool guarded(const Step& step) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    step();
    return true;
  }

  static void read(png_structp png, png_bytep to, std::size_t count) {
    Bytes& rest = static_cast<Png*>(png_get_io_ptr(png))->rest_;
    if (count > rest.size()) png_error(png, "");
    std::memcpy(to, rest.data(), count);
    rest = rest.subspan(count);
  }

  void read_header() {
    png_set_read_fn(png_, this, read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // new_pixels has the limit
    png_read_info(png_, info_);
    png_set_expand(png_);  // palettes and fewer than 8 bits
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    png_set_gray_to_rgb(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    row_bytes_ = png_get_rowbytes(png_, info_);
  }

  void read_rows(std::uint8_t* to, std::int64_t height) {
    for (int pass = 0; pass < passes_; ++pass) {
      for (std::int64_t y = 0; y < height; ++y) {
        png_read_row(png_, to + static_cast<std::size_t>(y) * row_bytes_, nullptr);
      }
    }
    png_read_end(png_, nullptr);
  }

  Bytes rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  std::size_t row_bytes_ = 0;
};

}  // namespace

std::optional<Tensor> decode_png(Bytes file) {
  return Png(file).decode();
}

}  // namespace grurun::engine::image
