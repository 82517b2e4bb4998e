// Text out of strangers' files, made safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace grurun {

/// Bytes of the character of UTF-8 that the text begins with; 0 when that is a control character, one for the
/// direction of text or a line's end among them, no UTF-8, or one that XML 1.0 cannot carry. The text must
/// not be empty.
std::size_t character_length(std::string_view text);

/// Appends the character that the text begins with, or, where that has no length, its first byte as \n, \t or
/// \xNN. Returns the bytes of the text that this stands for.
std::size_t append_printable(std::string& out, std::string_view text);

/// The text as one line of valid UTF-8 that any terminal, JSON and XML 1.0 can carry.
std::string printable(std::string_view text);

}  // namespace grurun
