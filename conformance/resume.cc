#include "conformance/resume.h"

#include <unordered_map>

#include "tensor/error.h"

namespace grurun::conformance {

std::size_t take_over(SuiteResult& result, SuiteResult former) {
  if (former.sides != result.sides)
    fail_usage("--resume: that run compared {} with {}, and this one would compare {} with {}",
               former.sides.actual, former.sides.expected, result.sides.actual, result.sides.expected);
  std::unordered_map<std::string, CaseResult*> known;
  for (std::size_t i = 0; i < former.cases.size(); ++i)
    if (former.outcomes[i].ran) known.emplace(path_key(former.cases[i]), &former.outcomes[i].result);
  result.outcomes.resize(result.cases.size());
  std::size_t taken = 0;
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    const auto found = known.find(path_key(result.cases[i]));
    if (found == known.end()) continue;
    result.outcomes[i].ran = true;
    result.outcomes[i].result = std::move(*found->second);
    ++taken;
  }
  return taken;
}

}  // namespace grurun::conformance
