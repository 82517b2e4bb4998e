#include "conformance/sha256.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nettle/sha2.h>

#include <array>
#include <cstdint>

#include "onnx_io/bytes.h"

namespace grurun::conformance {

std::string sha256_of(std::string_view bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest;
  sha256_digest(&context, digest.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string sha256_of_file(const std::string& path) {
  const onnx_io::OpenFile file = onnx_io::open_file(path);
  return sha256_of(onnx_io::map_file(file.descriptor, static_cast<std::size_t>(file.size), path).text());
}

}  // namespace grurun::conformance
