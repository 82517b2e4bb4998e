// Operators that a misspelt name may have meant.
#pragma once

#include <string>
#include <vector>

#include "tensor/near_match.h"

namespace grurun::opset {

using grurun::did_you_mean;
using grurun::near_matches;

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
