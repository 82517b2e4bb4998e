// JSON as it is printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace grurun::report {

/// What is ASCII may hold no mark that turns the direction of text, and ## begins commands of CI systems
/// wherever it stands: in JSON, where it occurs in strings only, an escape says the same.
inline std::string without_commands(std::string json) {
  for (std::size_t at = json.find("##"); at != json.npos; at = json.find("##", at))
    json.replace(at + 1, 1, "\\u0023");
  return json;
}

/// The text and an end of line; indent -1: on one line. Characters beyond ASCII are escaped. Bytes that are
/// no UTF-8, as names in a model may hold, become U+FFFD, since JSON holds nothing else.
template <typename Json>
std::string json_text(const Json& value, int indent = 2) {
  return without_commands(value.dump(indent, ' ', true, Json::error_handler_t::replace)) + "\n";
}

}  // namespace grurun::report
