#include "report/judgement_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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

Json finite_or_null(double number) {
  return std::isfinite(number) ? Json(number) : Json(nullptr);
}

double number_or_nan(const nlohmann::json& number) {
  return number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.get<double>();
}

template <typename T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<double> number_or_nothing(const nlohmann::json& number) {
  if (number.is_null()) return std::nullopt;
  return number.get<double>();
}

Json rule_json(const trial::AccuracyRule& rule) {
  return {{"place", printable(rule.place)},
          {"reason", printable(rule.reason)},
          {"rtol", value_or_null(rule.tolerance.rtol)},
          {"atol", value_or_null(rule.tolerance.atol)},
          {"max_ulp", value_or_null(rule.max_ulp)},
          {"ulp_floor", rule.ulp_floor},
          {"differing", value_or_null(rule.differing)},
          {"cosine", value_or_null(rule.cosine)},
          {"snr", value_or_null(rule.snr)}};
}

std::optional<trial::AccuracyRule> rule_of(const nlohmann::json& rule) {
  if (rule.is_null()) return std::nullopt;
  trial::AccuracyRule out;
  out.place = rule.at("place");
  out.reason = rule.at("reason");
  out.tolerance = {number_or_nothing(rule.at("rtol")), number_or_nothing(rule.at("atol"))};
  out.max_ulp = whole_or_null(rule.at("max_ulp"));
  out.ulp_floor = rule.at("ulp_floor");
  out.differing = number_or_nothing(rule.at("differing"));
  out.cosine = number_or_nothing(rule.at("cosine"));
  out.snr = number_or_nothing(rule.at("snr"));
  return out;
}

/// Pairs of |expected| and error; null where no tolerance passes.
Json headroom_json(const trial::Headroom& headroom) {
  if (headroom.is_hopeless()) return nullptr;
  Json out = Json::array();
  for (const trial::ElementError& point : headroom.points())
    out.push_back(Json::array({point.size, point.error}));
  return out;
}

trial::Headroom headroom_of(const nlohmann::json& points) {
  std::vector<trial::ElementError> out;
  if (!points.is_null())
    for (const nlohmann::json& point : points) out.push_back({point.at(0), point.at(1)});
  return trial::Headroom::of(std::move(out), points.is_null());
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
  if (random) out["total"] = errors.total;
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
  out["least_atol"] = finite_or_null(comparison.headroom.least_atol(comparison.tolerance.rtol));
  out["least_rtol"] = finite_or_null(comparison.headroom.least_rtol(comparison.tolerance.atol));
  out["ulps"] = comparison.ulps;
  out["cosine"] = finite_or_null(comparison.energies.cosine());
  out["snr"] = finite_or_null(comparison.energies.snr());
  out["rule"] = comparison.rule ? rule_json(*comparison.rule) : Json(nullptr);
  out["unequal"] = comparison.unequal;
  if (comparison.unequal == 0) return;
  const trial::Energies& energies = comparison.energies;
  out["headroom"] = headroom_json(comparison.headroom);
  out["energies"] = {finite_or_null(energies.actual), finite_or_null(energies.expected),
                     finite_or_null(energies.both), finite_or_null(energies.error)};
  out["elements"] = Json::array();
  for (const trial::ElementPair& pair : comparison.differing) out["elements"].push_back(pair_json(pair));
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
  if (random && output.contains("total")) out.errors.total = whole_of(output.at("total"));
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
  for (const nlohmann::json& count : output.at("ulps")) out.ulps.push_back(whole_of(count));
  out.rule = rule_of(output.at("rule"));
  out.unequal = whole_of(output.at("unequal"));
  if (out.unequal == 0) return out;
  out.headroom = headroom_of(output.at("headroom"));
  const nlohmann::json& energies = output.at("energies");
  out.energies = {number_or_nan(energies.at(0)), number_or_nan(energies.at(1)), number_or_nan(energies.at(2)),
                  number_or_nan(energies.at(3))};
  for (const nlohmann::json& pair : output.at("elements"))
    if (const auto element = pair_of(pair)) out.differing.push_back(*element);
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
