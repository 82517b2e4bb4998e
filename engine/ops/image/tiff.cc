// TIFF and BigTIFF through libtiff: what its RGBA interface reads, that is 1 to 16 bits a sample, gray,
// palette, RGB, CMYK, YCbCr, CIELab and LogLuv, strips or tiles, every compression it was built with. The
// first image of the file, turned as its Orientation says.
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/ops/image/decode.h"

namespace grurun::engine::image {

namespace {

constexpr tmsize_t max_library_block = 1'000'000'000;

/// A file in memory, as libtiff reads one.
struct Source {
  Bytes bytes;
  toff_t at = 0;

  static Source& of(thandle_t handle) { return *static_cast<Source*>(handle); }

  static tmsize_t read(thandle_t handle, void* to, tmsize_t wanted) {
    Source& source = of(handle);
    if (wanted <= 0 || source.at >= source.bytes.size()) return 0;
    const std::size_t count =
        std::min<std::size_t>(static_cast<std::size_t>(wanted), source.bytes.size() - source.at);
    std::memcpy(to, source.bytes.data() + source.at, count);
    source.at += count;
    return static_cast<tmsize_t>(count);
  }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    Source& source = of(handle);
    // An offset may be negative, in two's complement.
    source.at = offset + (whence == SEEK_CUR ? source.at : whence == SEEK_END ? source.bytes.size() : 0);
    return source.at;
  }
  static toff_t size(thandle_t handle) { return of(handle).bytes.size(); }
};

using File = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

File open(Source& source) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  const auto silent = [](TIFF*, void*, const char*, const char*, va_list) { return 1; };
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), silent, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), silent, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), max_library_block);
  // m: not mapped, so that every access goes through read.
  TIFF* tiff = TIFFClientOpenExt(
      "image", "rm", &source, Source::read, [](thandle_t, void*, tmsize_t) -> tmsize_t { return 0; },
      Source::seek, [](thandle_t) { return 0; }, Source::size, nullptr, nullptr, options.get());
  return File(tiff, TIFFClose);
}

/// The RGBA interface multiplies colors by an alpha that is not yet multiplied in; here it is to be dropped.
void keep_colors(TIFF* tiff) {
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  if (TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count == 0) return;
  std::vector<std::uint16_t> changed(kinds, kinds + count);
  std::replace(changed.begin(), changed.end(), std::uint16_t{EXTRASAMPLE_UNASSALPHA},
               std::uint16_t{EXTRASAMPLE_ASSOCALPHA});
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, count, changed.data());
}

/// Pixels as stored, from the top left on, turned as the orientation (1 to 8) says.
std::optional<Tensor> turned(const std::uint32_t* stored, std::int64_t width, std::int64_t height,
                             unsigned orientation) {
  const bool transposed = orientation >= 5;
  // Whether the first column is at the right, the first row at the bottom, before a transposition.
  const bool mirrored = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool upside_down = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  std::optional<Tensor> pixels = transposed ? new_pixels(height, width) : new_pixels(width, height);
  std::uint8_t* to = pixels->mutable_data<std::uint8_t>();
  for (std::int64_t y = 0; y < pixels->dim(0); ++y) {
    for (std::int64_t x = 0; x < pixels->dim(1); ++x, to += 3) {
      std::int64_t row = transposed ? x : y, column = transposed ? y : x;
      if (mirrored) column = width - 1 - column;
      if (upside_down) row = height - 1 - row;
      const std::uint32_t value = stored[row * width + column];
      to[0] = TIFFGetR(value);
      to[1] = TIFFGetG(value);
      to[2] = TIFFGetB(value);
    }
  }
  return pixels;
}

}  // namespace

std::optional<Tensor> decode_tiff(Bytes file) {
  Source source{file};
  const File tiff = open(source);
  std::uint32_t width = 0, height = 0;
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  if (tiff == nullptr || TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 0 ||
      TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) == 0 || !has_pixels(width, height)) {
    return std::nullopt;
  }
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  if (orientation < 1 || orientation > 8) orientation = ORIENTATION_TOPLEFT;
  TIFFSetField(tiff.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  keep_colors(tiff.get());
  Tensor stored(DType::uint32, {height, width});
  auto* raster = stored.mutable_data<std::uint32_t>();
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster, ORIENTATION_TOPLEFT, 1) == 0) {
    return std::nullopt;
  }
  return turned(raster, width, height, orientation);
}

}  // namespace grurun::engine::image
