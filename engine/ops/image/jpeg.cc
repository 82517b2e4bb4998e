// JPEG through libjpeg-turbo: baseline and progressive, 8 bits, gray, YCbCr, RGB, CMYK and YCCK. Chroma is
// upsampled as the text of ImageDecoder says, which is the library's default.
//
// The library reports errors through a function that must not return. It jumps back to where the library was
// called; between there and here lie only frames of C and of functions without destructors.
#include <csetjmp>
#include <cstddef>
#include <cstdio>

// The library's headers need those above and this order.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "engine/ops/image/decode.h"

namespace grurun::engine::image {

namespace {

constexpr int max_scans = 500;
constexpr long max_library_memory = 2'000'000'000;

class Jpeg {
 public:
  explicit Jpeg(Bytes file) : file_(file) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) { std::longjmp(self(jpeg).jump_, 1); };
    errors_.emit_message = [](j_common_ptr jpeg, int level) {
      if (level < 0 && is_damage(jpeg->err->msg_code)) self(jpeg).damaged_ = true;
    };
    errors_.output_message = [](j_common_ptr) {};
    progress_.progress_monitor = [](j_common_ptr jpeg) {
      // Every scan of a progressive file goes over the whole image.
      if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > max_scans) {
        std::longjmp(self(jpeg).jump_, 1);
      }
    };
  }
  ~Jpeg() { jpeg_destroy_decompress(&jpeg_); }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

  std::optional<Tensor> decode() {
    if (!guarded([this] { read_header(); })) return std::nullopt;
    std::optional<Tensor> pixels = new_pixels(jpeg_.image_width, jpeg_.image_height);
    if (!pixels) return std::nullopt;
    // CMYK has four bytes a pixel; one row at a time fits here.
    Tensor row(DType::uint8, {static_cast<std::int64_t>(jpeg_.image_width) * 4});
    std::uint8_t* const to = pixels->mutable_data<std::uint8_t>();
    std::uint8_t* const scratch = row.mutable_data<std::uint8_t>();
    if (!guarded([=, this] { read_rows(to, scratch); }) || damaged_) return std::nullopt;
    return pixels;
  }

 private:
  static Jpeg& self(j_common_ptr jpeg) { return *static_cast<Jpeg*>(jpeg->client_data); }

  /// Warnings after which pixels are missing or made up.
  static bool is_damage(int code) {
    return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
           code == JWRN_MUST_RESYNC || code == JWRN_BOGUS_PROGRESSION || code == JWRN_ARITH_BAD_CODE;
  }

  /// False when the library gave up in step, which must not own anything.
  template <typename Step>
  bool guarded(const Step& step) {
    if (setjmp(jump_) != 0) return false;
    step();
    return true;
  }

  void read_header() {
    jpeg_create_decompress(&jpeg_);
    jpeg_.mem->max_memory_to_use = max_library_memory;
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, file_.data(), static_cast<unsigned long>(file_.size()));
    jpeg_read_header(&jpeg_, TRUE);
    const bool four = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
    jpeg_.out_color_space = four ? JCS_CMYK : JCS_RGB;
  }

  void read_rows(std::uint8_t* to, std::uint8_t* scratch) {
    jpeg_start_decompress(&jpeg_);
    const std::size_t width = jpeg_.output_width;
    while (jpeg_.output_scanline < jpeg_.output_height) {
      std::uint8_t* row = to + jpeg_.output_scanline * width * 3;
      if (jpeg_.out_color_space == JCS_RGB) {
        jpeg_read_scanlines(&jpeg_, &row, 1);
      } else {
        jpeg_read_scanlines(&jpeg_, &scratch, 1);
        from_cmyk(scratch, width, row);
      }
    }
    jpeg_finish_decompress(&jpeg_);
  }

  /// Adobe's files hold the inks inverted: 255 is none.
  void from_cmyk(const std::uint8_t* inks, std::size_t width, std::uint8_t* to) const {
    const unsigned inverted = jpeg_.saw_Adobe_marker ? 0 : 255;
    for (std::size_t x = 0; x < width; ++x, inks += 4, to += 3) {
      for (int c = 0; c < 3; ++c) to[c] = to_8_bits((inks[c] ^ inverted) * (inks[3] ^ inverted), 255 * 255);
    }
  }

  Bytes file_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_{};
  bool damaged_ = false;
};

}  // namespace

std::optional<Tensor> decode_jpeg(Bytes file) {
  return Jpeg(file).decode();
}

}  // namespace grurun::engine::image
