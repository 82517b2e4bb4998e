// Results of a run before, judged again by other tolerances.
#pragma once

#include <memory>
#include <string>

#include "conformance/policy.h"
#include "conformance/suite.h"
#include "tensor/dtype.h"
#include "trial/tolerance_choice.h"

namespace grurun::conformance {

struct Rejudging {
  trial::ToleranceChoice tolerance;        // over what each output was judged by
  std::shared_ptr<const Policy> policy{};  // over that
};

/// Judges each output again whose elements were compared, and gives its case the verdict that a run would
/// have had; what was expected of it stays. Whether a tolerance lets an output pass is always known. How many
/// elements are beyond it, and what a rule says of single elements or of a share of them, needs those that
/// are not equal: Error(usage) where the run kept only some of them, and a rule asks for that. Without a
/// rule, the numbers are those of the elements kept then.
void rejudge(SuiteResult& result, const Rejudging& rejudging);

/// DType::float32 of "tensor(float) [2,3]" and of "seq(tensor(float)) of 3"; undefined where there is none.
DType element_type(const std::string& described);

}  // namespace grurun::conformance
