// WebP through libwebp, lossy and lossless; of an animation the first frame.
#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "engine/ops/image/decode.h"
#include "tensor/memory/memory.h"

namespace grurun::engine::image {

namespace {

/// pixels has the size of the animation's canvas.
std::optional<Tensor> first_frame(Bytes file, Tensor pixels) {
  const WebPData data{file.data(), file.size()};
  WebPAnimDecoderOptions options;
  WebPAnimInfo info;
  if (WebPAnimDecoderOptionsInit(&options) == 0) return std::nullopt;
  options.color_mode = MODE_RGBA;
  // The library's two canvases of 4 bytes a pixel count as memory of ours.
  const auto count = static_cast<std::size_t>(pixels.size() / 3);
  const memory::Block counted(count * 8);
  const std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)> decoder(
      WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete);
  std::uint8_t* canvas = nullptr;
  int timestamp = 0;
  if (decoder == nullptr || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0 ||
      info.canvas_width != pixels.dim(1) || info.canvas_height != pixels.dim(0) ||
      WebPAnimDecoderGetNext(decoder.get(), &canvas, &timestamp) == 0) {
    return std::nullopt;
  }
  std::uint8_t* to = pixels.mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) to[3 * i + channel] = canvas[4 * i + channel];
  }
  return pixels;
}

}  // namespace

std::optional<Tensor> decode_webp(Bytes file) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) return std::nullopt;
  std::optional<Tensor> pixels = new_pixels(features.width, features.height);
  if (!pixels) return std::nullopt;
  if (features.has_animation != 0) return first_frame(file, *std::move(pixels));
  const auto size = static_cast<std::size_t>(pixels->size());
  const std::uint8_t* done = WebPDecodeRGBInto(file.data(), file.size(), pixels->mutable_data<std::uint8_t>(),
                                               size, features.width * 3);
  return done != nullptr ? pixels : std::nullopt;
}

}  // namespace grurun::engine::image
