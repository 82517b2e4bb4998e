#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "engine/ops/image/decode.h"
#include "onnx_io/values/tensor_files.h"
#include "tests/engine/ops/math/op_table.h"
#include "tests/places/in_tree.h"

namespace grurun::engine::testing {
namespace {

namespace fs = std::filesystem;

using Stream = std::vector<std::uint8_t>;

struct Sample {
  Stream stream;
  Tensor pixels;  // uint8 [height, width, 3]
};

const std::map<std::string, Sample>& samples() {
  static const std::map<std::string, Sample> all = [] {
    const fs::path folder = tests::in_tree("testdata/images");
    std::map<std::string, Sample> read;
    for (const onnx_io::NamedValue& value : onnx_io::read_values(folder / "pixels.npz")) {
      std::ifstream file(folder / value.name, std::ios::binary);
      read[value.name] = {Stream(std::istreambuf_iterator<char>(file), {}), value.value.tensor()};
    }
    return read;
  }();
  return all;
}

Tensor decode(const Stream& stream, const char* pixel_format = "RGB") {
  const Tensor bytes = Tensor::from<std::uint8_t>(Shape{static_cast<std::int64_t>(stream.size())}, stream);
  return run_node("ImageDecoder", "", 20, {bytes}, {attr("pixel_format", pixel_format)})[0].tensor();
}

Stream bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string little_endian(std::uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

/// 0 where decoders of a format must agree, else how far they may round apart.
int slack(const std::string& name) {
  if (name == "tiff_gray_16.tif") return 1;  // libtiff cuts gray samples, and rounds those of RGB
  const bool lossy = name.find("lossy") != std::string::npos || name.find("jpeg_") == 0 ||
                     name == "webp_rgb.webp" || name == "tiff_rgb_jpeg.tif";
  return lossy ? 2 : 0;
}

TEST(ImageDecoder, EveryFormAndFormat) {
  ASSERT_GE(samples().size(), 70u);
  for (const auto& [name, sample] : samples()) {
    const Tensor got = decode(sample.stream);
    EXPECT_EQ(got.shape().to_string(), sample.pixels.shape().to_string()) << name;
    if (!(got.shape() == sample.pixels.shape())) continue;
    int worst = 0;
    for (std::int64_t i = 0; i < got.size(); ++i) {
      worst = std::max(worst, std::abs(got.data<std::uint8_t>()[i] - sample.pixels.data<std::uint8_t>()[i]));
    }
    EXPECT_LE(worst, slack(name)) << name;
  }
}

TEST(ImageDecoder, PixelFormats) {
  const Stream pixel = bytes("P6 2 1 255\n\x0a\xc8\x1e\xff\xff\xff");
  EXPECT_EQ(difference(decode(pixel), make<std::uint8_t>({1, 2, 3}, {10, 200, 30, 255, 255, 255})), "");
  EXPECT_EQ(difference(decode(pixel, "BGR"), make<std::uint8_t>({1, 2, 3}, {30, 200, 10, 255, 255, 255})),
            "");
  // 0.299 * 10 + 0.587 * 200 + 0.114 * 30 = 123.81
  EXPECT_EQ(difference(decode(pixel, "Grayscale"), make<std::uint8_t>({1, 2, 1}, {124, 255})), "");
  const Tensor default_format =
      Tensor::from<std::uint8_t>(Shape{static_cast<std::int64_t>(pixel.size())}, pixel);
  EXPECT_EQ(run_node("ImageDecoder", "", 25, {default_format})[0].tensor().dim(2), 3);
}

TEST(ImageDecoder, WhatCannotBeDecodedIsEmpty) {
  const std::map<std::string, Stream> broken = {
      {"nothing", {}},
      {"no image", bytes("no image")},
      {"GIF", bytes("GIF89a\x01\x01")},
      {"PAM", bytes("P7\nWIDTH 1\n")},
      {"no width", bytes("P5 0 1 255\n")},
      {"sample above the highest", bytes("P2 1 1 7 8")},
      {"huge number", bytes("P2 1 1 255 99999999999999999999")},
      {"no raster", bytes("P5 2 2 255")},
      {"a byte short", bytes("P5 2 2 255\n123")},
      {"BMP of 5 bits", bytes("BM" + little_endian(100, 4) + little_endian(0, 4) + little_endian(54, 4) +
                              little_endian(40, 4) + little_endian(1, 4) + little_endian(1, 4) +
                              little_endian(1, 2) + little_endian(5, 2) + std::string(28, '\0'))},
  };
  for (const auto& [name, stream] : broken) {
    EXPECT_EQ(decode(stream).shape().to_string(), "[0,0,3]") << name;
    EXPECT_EQ(decode(stream, "Grayscale").shape().to_string(), "[0,0,1]") << name;
  }
}

TEST(ImageDecoder, BitmapIndicesBeyondThePalette) {
  Stream stream = samples().at("bmp_8.bmp").stream;
  stream.back() = 0;
  stream[stream.size() - 2] = 200;  // last pixel of the top row, before the padding
  EXPECT_EQ(decode(stream).size(), 0);
}

/// Every stream must give an image or none, without a word from a library.
void decode_quietly(const std::string& name, const Stream& stream) {
  ::testing::internal::CaptureStderr();
  std::string error;
  try {
    image::decode(stream);
  } catch (const Error& thrown) {
    if (thrown.kind() != ErrorKind::limit) error = thrown.what();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << name;
  EXPECT_EQ(error, "") << name;
}

TEST(ImageDecoder, TruncatedStreams) {
  for (const auto& [name, sample] : samples()) {
    for (std::size_t size = 0; size < sample.stream.size(); size += 1 + size / 40) {
      decode_quietly(
          name, Stream(sample.stream.begin(), sample.stream.begin() + static_cast<std::ptrdiff_t>(size)));
    }
    const std::size_t half = sample.stream.size() / 2;
    const Stream first(sample.stream.begin(), sample.stream.begin() + static_cast<std::ptrdiff_t>(half));
    EXPECT_EQ(decode(first).size(), 0) << name;
  }
}

TEST(ImageDecoder, DamagedStreams) {
  std::mt19937 generator(20);
  for (const auto& [name, sample] : samples()) {
    for (int round = 0; round < 16; ++round) {
      Stream stream = sample.stream;
      for (int change = 0; change <= round % 4; ++change) {
        stream[generator() % std::min<std::size_t>(stream.size(), 200)] =
            static_cast<std::uint8_t>(generator());
      }
      decode_quietly(name, stream);
    }
  }
}

TEST(ImageDecoder, SizesAreCheckedBeforeMemoryIsTaken) {
  const std::string edge = little_endian(100'000, 4);
  const Stream bmp =
      bytes("BM" + little_endian(100, 4) + little_endian(0, 4) + little_endian(54, 4) + little_endian(40, 4) +
            edge + edge + little_endian(1, 2) + little_endian(24, 2) + std::string(28, '\0'));
  Stream jpeg2000 = samples().at("jpeg2000_rgb_codestream.j2k").stream;
  for (const std::size_t at : {9, 13, 25, 29})
    jpeg2000[at] = 1;  // a second byte of the sizes of grid and tile
  const Stream pnm = bytes("P2 2147483647 2147483647 255\n1");
  for (const Stream& stream : {bmp, jpeg2000, pnm}) {
    try {
      decode(stream);
      ADD_FAILURE() << "decoded";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::limit) << error.what();
      EXPECT_NE(std::string(error.what()).find("pixels"), std::string::npos) << error.what();
    }
  }
}

TEST(ImageDecoder, Refused) {
  check_errors({
      {"format",
       "ImageDecoder",
       20,
       {vec<std::uint8_t>({1})},
       {attr("pixel_format", "RGBA")},
       ErrorKind::invalid_model,
       "'RGBA'"},
      {"rank",
       "ImageDecoder",
       20,
       {make<std::uint8_t>({1, 1}, {1})},
       {},
       ErrorKind::invalid_model,
       "input encoded_stream is [1,1]; ImageDecoder-20 takes [bytes]"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
