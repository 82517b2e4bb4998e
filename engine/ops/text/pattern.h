// Regular expressions in RE2's syntax, which take time linear in the text, times the pattern's.
#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <memory>
#include <string>

namespace grurun::engine {

enum class Alternatives { first, longest };

/// In bytes.
inline constexpr std::size_t longest_pattern = 64 * 1024;

/// Throws Error(invalid_model) for what is no expression, Error(limit) for one that is longer than
/// longest_pattern, or takes too much memory.
std::shared_ptr<const RE2> compiled_pattern(const std::string& pattern,
                                            Alternatives alternatives = Alternatives::first);

/// Throws Error(limit) where a match may take more than 2^34 steps, half a minute: a match is not
/// interrupted. At worst each instruction of the pattern is looked at for each byte of the text.
void require_matchable(const RE2& pattern, std::size_t text_size);

}  // namespace grurun::engine
