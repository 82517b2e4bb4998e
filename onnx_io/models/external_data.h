// Tensor data outside the model file, TensorProto.external_data: found only beneath the model's folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx_io/bytes.h"

namespace grurun::onnx_io {

/// What external_data says, its numbers parsed.
struct ExternalLocation {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // none: to the end of the file
};

/// How a file beneath a folder is opened: by openat2 where the kernel has it, or name by name.
enum class OpenMethod { openat2_or_walk, walk };

/// Opens folder/location without leaving folder and without following a symbolic link in any part of
/// location. Only a regular file with a single link passes, checked on the descriptor that is returned.
/// Throws Error(invalid_model) for every other location.
OpenFile open_beneath(const std::string& folder, const std::string& location,
                      OpenMethod method = OpenMethod::openat2_or_walk);

/// The external files of one model: each is opened and mapped once.
class ExternalData {
 public:
  /// folder empty: external data is refused. beside: bytes of the model's own file.
  explicit ExternalData(std::string folder, std::uint64_t beside = 0)
      : folder_(std::move(folder)), bytes_(beside) {}

  /// The bytes a location names. Throws Error(invalid_model) when they are not all within the file, or the
  /// location is refused (open_beneath), and Error(limit) when the files are too large together.
  Bytes find(const ExternalLocation& location);

  /// Of the files that were read.
  std::vector<std::string> paths() const;

 private:
  std::string folder_;
  std::uint64_t bytes_;  // of all files
  std::unordered_map<std::string, Bytes> files_;
};

}  // namespace grurun::onnx_io
