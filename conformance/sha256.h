// SHA-256 digests, as 64 hex digits.
#pragma once

#include <string>
#include <string_view>

namespace grurun::conformance {

std::string sha256_of(std::string_view bytes);

/// Throws Error(usage) for a file that cannot be read or is no regular file: a device never ends, a pipe is
/// waited for.
std::string sha256_of_file(const std::string& path);

}  // namespace grurun::conformance
