// How much tolerance a suite needs: what `grurun report headroom` prints, and the policy that would just do.
#pragma once

#include <string>

#include "conformance/suite.h"

namespace grurun::report {

struct HeadroomView {
  conformance::SuiteResult suite;
};

/// A table by element type: outputs, the least atol at the rtol they were judged by and the reverse, the
/// largest distance in representable values and how many elements lie how far apart; then the outputs that
/// need most.
std::string headroom_text(const HeadroomView& view);
std::string headroom_json(const HeadroomView& view);

/// A policy for --policy: a rule for each set of operators and each element type, under which the same
/// results pass, with twice what they need. Outputs that no tolerance lets pass have none.
std::string suggested_policy(const conformance::SuiteResult& result);

/// "float" of "tensor(float) [2,3]" and of "seq(tensor(float)) of 3"; empty where there is none.
std::string element_type_of(const std::string& described);

}  // namespace grurun::report
