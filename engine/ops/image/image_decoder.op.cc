// ImageDecoder (ai.onnx 20).
//
//   image [height, width, channels] = the pixels of the file encoded_stream [bytes], uint8
//
// pixel_format RGB (default), BGR: 3 channels; Grayscale: 1, gray = 0.299 red + 0.587 green + 0.114 blue in
// 16-bit fixed point. BMP, JPEG, JPEG 2000, TIFF, PNG, WebP and PBM, PGM, PPM. A stream that cannot be
// decoded gives an empty image, [0, 0, channels], as the text says; an image too large to be held is an
// Error(limit).
#include <algorithm>
#include <string>

#include "engine/graph/op_context.h"
#include "engine/ops/image/decode.h"

namespace grurun::engine {

namespace {

enum class PixelFormat { rgb, bgr, grayscale };

Tensor to_gray(const Tensor& rgb) {
  Tensor gray(DType::uint8, {rgb.dim(0), rgb.dim(1), 1});
  const std::uint8_t* from = rgb.data<std::uint8_t>();
  std::uint8_t* to = gray.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < gray.size(); ++i, from += 3) {
    to[i] =
        static_cast<std::uint8_t>((from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16);
  }
  return gray;
}

Tensor converted(Tensor rgb, PixelFormat format) {
  if (format == PixelFormat::grayscale) return to_gray(rgb);
  if (format == PixelFormat::rgb) return rgb;
  std::uint8_t* pixel = rgb.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < rgb.size(); i += 3) std::swap(pixel[i], pixel[i + 2]);
  return rgb;
}

PixelFormat pixel_format(PrepareContext& node) {
  const std::string name = node.string_attribute("pixel_format", "RGB");
  if (name == "RGB") return PixelFormat::rgb;
  if (name == "BGR") return PixelFormat::bgr;
  return PixelFormat::grayscale;
}

RunFunction prepare_image_decoder(PrepareContext& node) {
  const PixelFormat format = pixel_format(node);
  return [format](RunContext& run) {
    const Tensor& stream = run.tensor(0);
    if (stream.rank() != 1) refuse();
    std::optional<Tensor> rgb = image::decode(stream.span<std::uint8_t>());
    run.set_output(0, rgb ? converted(*std::move(rgb), format)
                          : Tensor(DType::uint8, {0, 0, format == PixelFormat::grayscale ? 1 : 3}));
  };
}

}  // namespace

std::vector<OpRow> op_rows_image_decoder() {
  return {{"", "ImageDecoder", {20}, prepare_image_decoder}};
}

}  // namespace grurun::engine
