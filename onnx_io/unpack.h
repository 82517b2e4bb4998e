// Files that are compressed as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx_io/bytes.h"

namespace grurun::onnx_io {

enum class Compression : std::uint8_t { gzip, zstd };

/// How what begins so is compressed; nullopt: it is not, or otherwise.
std::optional<Compression> compression_of(std::string_view begin);

/// The bytes that `packed` holds, in counted memory. Throws Error(invalid_model) where it is damaged or ends
/// too early, and Error(limit) where it holds more than `most` bytes.
Bytes unpacked(Compression compression, std::string_view packed, std::size_t most);

}  // namespace grurun::onnx_io
