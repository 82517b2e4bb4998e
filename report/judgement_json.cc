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

std::optional<trial::ElementPair> pair_of(const nlohmann::json& pair) {
  if (pair.is_null()) return std::nullopt;
  trial::ElementPair out{pair.at("where"), {}, pair.at("actual"), pair.at("expected")};
  for (const nlohmann::json& at : pair.at("index")) out.index.push_back(whole_of(at));
  return out;
}

std::optional<std::uint64_t> whole_or_null(const nlohmann::json& number) {
  if (number.is_null()) return std::nullopt;
  return static_cast<std::uint64_t>(whole_of(number));
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

std::int64_t whole_of(const nlohmann::json& number) {
  // Throws the type error of what is no integer.
  if (!number.is_number_integer()) return static_cast<std::int64_t>(number.get_ref<const std::int64_t&>());
  return number.get<std::int64_t>();
}

trial::Comparison comparison_of(const nlohmann::json& output, bool& random) {
  trial::Comparison out;
  out.ok = output.at("ok");
  random = output.at("random");
  out.actual_type = output.at("actual_type");
  out.expected_type = output.at("expected_type");
  out.structure = output.at("problem");
  if (random) return out;
  out.tolerance = {output.at("rtol"), output.at("atol")};
  trial::ElementErrors& errors = out.errors;
  errors.total = whole_of(output.at("total"));
  errors.differing = whole_of(output.at("differing"));
  errors.non_finite = whole_of(output.at("non_finite"));
  errors.max_abs = output.at("max_abs");
  errors.max_rel = output.at("max_rel");
  errors.max_ulp = whole_or_null(output.at("max_ulp"));
  out.first = pair_of(output.at("first"));
  out.worst = pair_of(output.at("worst"));
  return out;
}

Json reason_json(const trial::Explanation& finding) {
  Json out = {
      {"kind", finding.kind}, {"data_set", printable(finding.data_set)}, {"node", printable(finding.node)}};
  out["hypotheses"] = finding.hypotheses;
  out["max_ulp"] = finding.max_ulp ? Json(*finding.max_ulp) : Json(nullptr);
  out["text"] = printable(finding.text);
  return out;
}

trial::Explanation reason_of(const nlohmann::json& reason) {
  return {reason.at("kind"),
          reason.at("data_set"),
          reason.at("node"),
          reason.at("hypotheses"),
          whole_or_null(reason.at("max_ulp")),
          reason.at("text")};
}

void add_warning(Json& out, const opset::Finding& finding) {
  out["code"] = finding.code;
  out["text"] = printable(finding.message);
  if (finding.node.empty()) return;
  out["node"] = printable(finding.node);
  out["op"] = printable(finding.op);
  out["section"] = printable(finding.section);
}

opset::Finding warning_of(const nlohmann::json& warning) {
  opset::Finding out;
  out.code = warning.at("code");
  out.severity = opset::Severity::warning;
  out.message = warning.at("text");
  out.node = warning.value("node", "");
  out.op = warning.value("op", "");
  out.section = warning.value("section", "");
  return out;
}

}  // namespace grurun::report
