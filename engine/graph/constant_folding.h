// Steps whose inputs are all known, computed while the plan is made: exporters write weights as slices, put
// together again, of other weights, as integers with a scale, or as what a formula gives.
#pragma once

#include <optional>
#include <vector>

#include "engine/graph/plan.h"
#include "opset/pages/page.h"

namespace grurun::engine {

/// Output 0 of the step for these inputs (nullptr: omitted), with as many elements as its page says. None
/// where it might be large, or the step fails: a run then says why.
std::optional<Value> folded(opset::Folded bounded_by, const Step& step,
                            const std::vector<const Value*>& inputs);

}  // namespace grurun::engine
