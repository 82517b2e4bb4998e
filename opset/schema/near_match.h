// Names that a misspelt one may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grurun::opset {

/// At most three of the candidates, nearest first: the same letters in another case, or few edits away. None
/// for a name that is too long to be a misspelling.
std::vector<std::string> near_matches(std::string_view name, std::span<const std::string> candidates);

/// "; did you mean 'Relu' or 'PRelu'?", or nothing.
std::string did_you_mean(const std::vector<std::string>& matches);

/// Operators of a domain that exist in this opset, deprecated ones left out, near to op_type.
std::vector<std::string> near_operators(const std::string& op_type, const std::string& domain,
                                        std::int64_t opset_version);

/// Operators of every standard domain and version near to op_type.
std::vector<std::string> near_operators(const std::string& op_type);

/// "no operator 'Mish' in opset 7 of ai.onnx; it exists from opset 18 on; import that or a newer one": about
/// a name that a standard domain does not have in this opset, and what may have been meant.
std::string describe_unknown_operator(const std::string& op_type, const std::string& domain,
                                      std::int64_t opset_version);

}  // namespace grurun::opset
