// UTF-8 and code points.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace grurun::onnx_io {

/// The code points of a UTF-8 text; nullopt when it is not well-formed (overlong forms and surrogates
/// included).
std::optional<std::u32string> decode_utf8(std::string_view text);

/// Appends a code point; false when it is none (a surrogate, or beyond U+10FFFF).
bool append_utf8(char32_t code_point, std::string* to);

}  // namespace grurun::onnx_io
