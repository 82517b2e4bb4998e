#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace grurun::report {

/// "1 node", "2 nodes".
inline std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace grurun::report
