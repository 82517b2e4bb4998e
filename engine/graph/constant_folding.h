// Steps whose inputs are all known, computed while the plan is made: exporters write weights as slices, put
// together again, of other weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/graph/plan.h"

namespace grurun::engine {

/// True for the operators that only arrange elements, or convert them.
bool is_foldable(const std::string& domain, const std::string& op_type);

/// Output 0 of the step for these inputs (nullptr: omitted). None where it is large, or the step fails: a run
/// then says why.
std::optional<Value> folded(const Step& step, const std::vector<const Value*>& inputs);

}  // namespace grurun::engine
