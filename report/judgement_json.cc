#include "report/judgement_json.h"

#include <algorithm>
#include <limits>

#include "tensor/printable.h"

namespace grurun::report {

namespace {

using Json = nlohmann::ordered_json;

Json pair_json(const std::optional<trial::ElementPair>& pair) {
  if (!pair) return nullptr;
  return {{"where", printable(pair->where)},
          {"index", pair->index},
          {"actual", printable(pair->actual)},
          {"expected", printable(pair->expected)}};
}

/// JSON has no infinity, and the keys are numbers.
double within_range(double error) {
  return std::min(error, std::numeric_limits<double>::max());
}

}  // namespace

void add_comparison(Json& out, const trial::Comparison& comparison, bool random) {
  const trial::ElementErrors& errors = comparison.errors;
  out["ok"] = comparison.ok;
  out["random"] = random;
  out["actual_type"] = printable(comparison.actual_type);
  out["expected_type"] = printable(comparison.expected_type);
  out["problem"] = printable(comparison.structure);
  if (random) return;
  out["rtol"] = comparison.tolerance.rtol;
  out["atol"] = comparison.tolerance.atol;
  out["total"] = errors.total;
  out["differing"] = errors.differing;
  out["non_finite"] = errors.non_finite;
  out["max_abs"] = within_range(errors.max_abs);
  out["max_rel"] = within_range(errors.max_rel);
  out["max_ulp"] = errors.max_ulp ? Json(*errors.max_ulp) : Json(nullptr);
  out["first"] = pair_json(comparison.first);
  out["worst"] = pair_json(comparison.worst);
}

Json reason_json(const trial::Explanation& finding) {
  Json out = {
      {"kind", finding.kind}, {"data_set", printable(finding.data_set)}, {"node", printable(finding.node)}};
  out["hypotheses"] = finding.hypotheses;
  out["max_ulp"] = finding.max_ulp ? Json(*finding.max_ulp) : Json(nullptr);
  out["text"] = printable(finding.text);
  return out;
}

void add_warning(Json& out, const opset::Finding& finding) {
  out["code"] = finding.code;
  out["text"] = printable(finding.message);
  if (finding.node.empty()) return;
  out["node"] = printable(finding.node);
  out["op"] = printable(finding.op);
  out["section"] = printable(finding.section);
}

}  // namespace grurun::report
