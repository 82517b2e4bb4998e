// The keys of a text of TOML, looked at before it is parsed.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace grurun::conformance {

/// The line, from 1, of the first key that has more than `most` dots. The parser makes a table within a table
/// for each of them, and needs stack for each to free them.
std::optional<std::size_t> line_of_long_key(std::string_view text, std::size_t most);

}  // namespace grurun::conformance
