// Regular expressions in RE2's syntax, which take time linear in the text.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>

namespace grurun::engine {

enum class Alternatives { first, longest };

/// Throws Error(invalid_model) for what is no expression, Error(limit) for one that takes too much memory.
std::shared_ptr<const RE2> compiled_pattern(const std::string& pattern,
                                            Alternatives alternatives = Alternatives::first);

}  // namespace grurun::engine
