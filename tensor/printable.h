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

/// The text without its middle where it has more than `most` bytes, which says how many were left out. Cut
/// between characters of UTF-8.
std::string without_middle(std::string_view text, std::size_t most);

/// The most bytes of a name, and of a line, that are shown.
inline constexpr std::size_t most_of_name = 200;
inline constexpr std::size_t most_of_line = 4096;

/// The text as one line of valid UTF-8 that any terminal, JSON and XML 1.0 can carry, and that no CI system
/// takes for a command: it does not begin like one of GitHub's, nor hold the ## that begins others. Names
/// between quotes and the whole line lose their middle where they are too long. Whatever is printed of a
/// model's text goes through here, or through json_text.
std::string printable(std::string_view text);

/// The same of a name that stands by itself.
std::string printable_name(std::string_view name);

}  // namespace grurun
