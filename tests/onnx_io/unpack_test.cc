#include "onnx_io/unpack.h"

#include <gmock/gmock.h>
#include <zlib.h>
#include <zstd.h>

#include <random>
#include <string>

#include "tensor/error.h"

namespace grurun::onnx_io {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

struct Form {
  Compression compression;
  const char* name;
  std::string (*pack)(const std::string&);
};
constexpr Form forms[] = {{Compression::gzip, "gzip", gzip}, {Compression::zstd, "zstd", zstd}};

std::string noise(std::size_t size) {
  std::mt19937 random(1);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

std::string read(const Form& form, const std::string& packed, std::size_t most = 1 << 30) {
  return std::string(unpacked(form.compression, packed, most).text());
}

std::string error_of(const Form& form, const std::string& packed, std::size_t most, ErrorKind kind) {
  try {
    read(form, packed, most);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.message();
  }
  return "no error";
}

TEST(Unpack, GivesBackWhatWasPacked) {
  for (const Form& form : forms) {
    for (const std::string& text : {std::string(), std::string("x"), std::string(1 << 22, 'a'),
                                    noise(262'144), noise(262'145), noise(3'000'000)}) {
      const std::string packed = form.pack(text);
      EXPECT_EQ(compression_of(packed), form.compression);
      EXPECT_EQ(read(form, packed), text) << form.name << ", " << text.size();
    }
    EXPECT_EQ(read(form, form.pack("one") + form.pack("") + form.pack("two")), "onetwo") << form.name;
  }
  EXPECT_EQ(compression_of("\x08\x07"), std::nullopt);
}

TEST(Unpack, DamageIsTold) {
  for (const Form& form : forms) {
    const std::string packed = form.pack(noise(100'000));
    for (const std::size_t size : {packed.size() - 1, packed.size() / 2, std::size_t{12}, std::size_t{4}})
      EXPECT_THAT(error_of(form, packed.substr(0, size), 1 << 30, ErrorKind::invalid_model),
                  ::testing::StartsWith(std::string("it is compressed with ") + form.name + " and damaged: "))
          << size;
    std::string changed = form.pack(std::string(100'000, 'a') + "b");
    for (std::size_t i = changed.size() / 2; i < changed.size(); ++i) changed[i] = '\x55';
    EXPECT_THAT(error_of(form, changed, 1 << 30, ErrorKind::invalid_model), ::testing::HasSubstr("damaged"));
    EXPECT_THAT(error_of(form, packed + "more", 1 << 30, ErrorKind::invalid_model),
                ::testing::HasSubstr("damaged"));
  }
}

TEST(Unpack, NoMoreThanTheLimit) {
  for (const Form& form : forms) {
    const std::string packed = form.pack(std::string(std::size_t{64} << 20, '\0'));
    EXPECT_LT(packed.size(), 100'000u);
    for (const std::size_t most : {std::size_t{0}, std::size_t{1000}, (std::size_t{64} << 20) - 1})
      EXPECT_THAT(error_of(form, packed, most, ErrorKind::limit), ::testing::HasSubstr("more than")) << most;
    EXPECT_EQ(read(form, packed, std::size_t{64} << 20).size(), std::size_t{64} << 20);
  }
}

}  // namespace
}  // namespace grurun::onnx_io
