// JPEG 2000 through OpenJPEG, as a JP2 file or a bare codestream: gray, RGB and sYCC of up to 31 bits a
// sample, subsampled components too. A further component is taken for transparency.
#include <openjpeg.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "engine/ops/image/decode.h"
#include "tensor/memory/memory.h"

namespace grurun::engine::image {

namespace {

constexpr std::uint32_t max_components = 16;

/// A file in memory, as OpenJPEG reads one.
struct Source {
  Bytes bytes;
  std::size_t at = 0;

  static Source& of(void* data) { return *static_cast<Source*>(data); }

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T wanted, void* data) {
    Source& source = of(data);
    const std::size_t count = std::min<std::size_t>(wanted, source.bytes.size() - source.at);
    if (count == 0) return static_cast<OPJ_SIZE_T>(-1);  // the end, to OpenJPEG
    std::memcpy(to, source.bytes.data() + source.at, count);
    source.at += count;
    return count;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* data) {
    Source& source = of(data);
    if (count < 0) return -1;
    const auto left = static_cast<OPJ_OFF_T>(source.bytes.size() - source.at);
    const OPJ_OFF_T done = std::min(count, left);
    source.at += static_cast<std::size_t>(done);
    return done;
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* data) {
    Source& source = of(data);
    if (to < 0 || static_cast<std::size_t>(to) > source.bytes.size()) return OPJ_FALSE;
    source.at = static_cast<std::size_t>(to);
    return OPJ_TRUE;
  }
};

using Codec = std::unique_ptr<opj_codec_t, decltype(&opj_destroy_codec)>;
using Stream = std::unique_ptr<opj_stream_t, decltype(&opj_stream_destroy)>;
using Image = std::unique_ptr<opj_image_t, decltype(&opj_image_destroy)>;

Stream open(Source& source) {
  Stream stream(opj_stream_create(64 * 1024, OPJ_TRUE), opj_stream_destroy);
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), source.bytes.size());
  opj_stream_set_read_function(stream.get(), Source::read);
  opj_stream_set_skip_function(stream.get(), Source::skip);
  opj_stream_set_seek_function(stream.get(), Source::seek);
  return stream;
}

/// Samples of one component, scaled to [0, 255], at the places of a larger grid.
class Plane {
 public:
  Plane(const opj_image_comp_t& component, std::int64_t width, std::int64_t height)
      : component_(component), width_(width), height_(height) {}

  std::uint8_t at(std::int64_t x, std::int64_t y) const {
    const std::int64_t column = x * component_.w / width_, row = y * component_.h / height_;
    const std::int64_t highest = (std::int64_t{1} << component_.prec) - 1;
    std::int64_t sample = component_.data[row * component_.w + column];
    if (component_.sgnd != 0) sample += std::int64_t{1} << (component_.prec - 1);
    sample = std::clamp<std::int64_t>(sample, 0, highest);
    return to_8_bits(static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(highest));
  }

 private:
  const opj_image_comp_t& component_;
  std::int64_t width_;
  std::int64_t height_;
};

/// sYCC of 8 bits (IEC 61966-2-1, annex F).
void to_rgb(std::uint8_t* pixel) {
  const double y = pixel[0], blue = pixel[1] - 128.0, red = pixel[2] - 128.0;
  const double rgb[3] = {y + 1.402 * red, y - 0.344136 * blue - 0.714136 * red, y + 1.772 * blue};
  for (int c = 0; c < 3; ++c)
    pixel[c] = static_cast<std::uint8_t>(std::lround(std::clamp(rgb[c], 0.0, 255.0)));
}

bool has_known_form(const opj_image_t& image) {
  if (image.numcomps < 1 || image.numcomps > max_components) return false;
  if (image.color_space == OPJ_CLRSPC_CMYK || image.color_space == OPJ_CLRSPC_EYCC) return false;
  for (std::uint32_t c = 0; c < image.numcomps; ++c) {
    const opj_image_comp_t& component = image.comps[c];
    if (component.prec < 1 || component.prec > 31 || component.w == 0 || component.h == 0) return false;
  }
  return true;
}

/// A codestream does not say its colors; chroma in fewer samples tells.
bool is_sycc(const opj_image_t& image) {
  if (image.numcomps < 3) return false;
  if (image.color_space == OPJ_CLRSPC_SYCC) return true;
  const bool unsaid = image.color_space == OPJ_CLRSPC_UNSPECIFIED || image.color_space == OPJ_CLRSPC_UNKNOWN;
  return unsaid && image.comps[1].dx > image.comps[0].dx;
}

Tensor to_pixels(const opj_image_t& image, Tensor pixels) {
  const std::int64_t height = pixels.dim(0), width = pixels.dim(1);
  const bool color = image.numcomps >= 3, sycc = is_sycc(image);
  const Plane planes[3] = {{image.comps[0], width, height},
                           {image.comps[color ? 1 : 0], width, height},
                           {image.comps[color ? 2 : 0], width, height}};
  std::uint8_t* to = pixels.mutable_data<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x, to += 3) {
      for (int c = 0; c < 3; ++c) to[c] = planes[c].at(x, y);
      if (sycc) to_rgb(to);
    }
  }
  return pixels;
}

}  // namespace

std::optional<Tensor> decode_jpeg2000(Bytes file) {
  Source source{file};
  const Stream stream = open(source);
  const Codec codec(opj_create_decompress(file[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2),
                    opj_destroy_codec);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* header = nullptr;
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE ||
      opj_decoder_set_strict_mode(codec.get(), OPJ_TRUE) == OPJ_FALSE ||
      opj_read_header(stream.get(), codec.get(), &header) == OPJ_FALSE) {
    opj_image_destroy(header);
    return std::nullopt;
  }
  const Image image(header, opj_image_destroy);
  // The reference grid holds every component.
  std::optional<Tensor> pixels =
      new_pixels(std::int64_t{image->x1} - image->x0, std::int64_t{image->y1} - image->y0);
  if (!pixels || !has_known_form(*image)) return std::nullopt;
  // What OpenJPEG takes for its samples, 4 bytes each in a tile and in the image, counts as memory of ours.
  const memory::Block counted(static_cast<std::size_t>(pixels->size() / 3) * image->numcomps * 8);
  if (opj_decode(codec.get(), stream.get(), image.get()) == OPJ_FALSE ||
      opj_end_decompress(codec.get(), stream.get()) == OPJ_FALSE || !has_known_form(*image)) {
    return std::nullopt;
  }
  for (std::uint32_t c = 0; c < image->numcomps; ++c) {
    if (image->comps[c].data == nullptr) return std::nullopt;
  }
  if (image->comps[0].w != pixels->dim(1) || image->comps[0].h != pixels->dim(0)) {
    pixels = new_pixels(image->comps[0].w, image->comps[0].h);
  }
  return to_pixels(*image, *std::move(pixels));
}

}  // namespace grurun::engine::image
