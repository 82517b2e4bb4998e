// Names that a misspelt one may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grurun {

/// At most three of the candidates, nearest first: the same letters in another case, or few edits away. None
/// for a name that is too long to be a misspelling.
std::vector<std::string> near_matches(std::string_view name, std::span<const std::string> candidates);

/// "; did you mean 'Relu' or 'PRelu'?", or nothing.
std::string did_you_mean(const std::vector<std::string>& matches);

}  // namespace grurun
