// Steps whose inputs are all known, computed while the plan is made: exporters write weights as slices, put
// together again, of other weights, as integers with a scale, or as what a formula gives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/graph/plan.h"

namespace grurun::engine {

/// True for operators that arrange elements, convert them, or compute each from few: none that draws numbers,
/// has a body, or may take long for what it makes.
bool is_foldable(const std::string& domain, const std::string& op_type);

/// Output 0 of the step, of a foldable operator, for these inputs (nullptr: omitted). None where it might be
/// large, or the step fails: a run then says why.
std::optional<Value> folded(const std::string& op_type, const Step& step,
                            const std::vector<const Value*>& inputs);

}  // namespace grurun::engine
