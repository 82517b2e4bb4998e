// JSON as it is printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace grurun::report {

/// The text and an end of line; indent -1: on one line. Bytes that are no UTF-8, as names in a model may
/// hold, become U+FFFD, since JSON holds nothing else.
template <typename Json>
std::string json_text(const Json& value, int indent = 2) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace grurun::report
