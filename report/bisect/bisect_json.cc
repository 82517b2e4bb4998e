#include <cmath>
#include <nlohmann/json.hpp>

#include "report/bisect/bisect_format.h"
#include "report/bisect/bisection_json.h"
#include "report/bounded.h"
#include "report/json_text.h"
#include "report/judgement_json.h"

namespace grurun::report {
namespace {

using Json = nlohmann::ordered_json;
using trial::Comparison;
using trial::FoundOddity;
using trial::ValueDifference;

Json comparison_json(const Comparison& comparison) {
  Json out;
  add_comparison(out, comparison, false);
  return out;
}

Json difference_json(const ValueDifference& difference) {
  Json out{{"node", difference.label}, {"value", difference.value}, {"partner", difference.partner}};
  add_comparison(out, difference.in_run, false);
  if (difference.alone) out["alone"] = comparison_json(*difference.alone);
  if (!difference.not_alone.empty()) out["not_alone"] = difference.not_alone;
  if (difference.times_rounding && std::isfinite(*difference.times_rounding))
    out["times_rounding"] = *difference.times_rounding;
  out["live"] = difference.is_live;
  if (!difference.with.empty()) out["with"] = difference.with;
  out["made_here"] = difference.is_made_here();
  const trial::NodeDetails& details = difference.details;
  if (difference.is_made_here()) {
    Json origin = Json::object(), reasons = Json::array();
    for (const auto& [key, text] : details.origin) origin[key] = text;
    for (const trial::Explanation& reason : details.reasons)
      reasons.push_back({{"kind", reason.kind}, {"hypotheses", reason.hypotheses}, {"text", reason.text}});
    out["details"] = {{"attributes", details.attributes},
                      {"inputs", details.inputs},
                      {"origin", std::move(origin)},
                      {"diagnosis", std::move(reasons)}};
  }
  return out;
}

const char* name_of(trial::Conclusion conclusion) {
  using trial::Conclusion;
  switch (conclusion) {
    case Conclusion::nothing:
      return "nothing";
    case Conclusion::unread:
      return "unread";
    case Conclusion::at_outputs:
      return "at_outputs";
    case Conclusion::rounding:
      return "rounding";
    case Conclusion::gathered:
      return "gathered";
    case Conclusion::unexplained:
      return "unexplained";
    case Conclusion::made:
      return "made";
  }
  return "";
}

Json found_json(const FoundOddity& found) {
  Json inputs = Json::array();
  for (const trial::OddityInput& input : first_of(found.inputs, most_in_json))
    inputs.push_back(
        {{"name", input.name}, {"type", input.type}, {"range", input.range}, {"at_place", input.at_place}});
  Json out{{"node", found.label},        {"value", found.value}, {"type", found.type},
           {"count", found.count},       {"index", found.index}, {"element", found.element},
           {"inputs", std::move(inputs)}};
  out["made"] = found.is_made;
  if (!found.given.empty()) {
    Json given = Json::array();
    for (const FoundOddity& each : first_of(found.given, most_in_json))
      given.push_back({{"name", each.label},
                       {"type", each.type},
                       {"count", each.count},
                       {"index", each.index},
                       {"element", each.element}});
    out["given"] = std::move(given);
  }
  return out;
}

Json differences_json(const std::vector<ValueDifference>& differences) {
  Json out = Json::array();
  for (const ValueDifference& each : first_of(differences, most_in_json))
    out.push_back(difference_json(each));
  return out;
}

}  // namespace

Json bisection_json(const trial::Bisection& bisection) {
  Json out{{"reference", bisection.reference},   {"compared", bisection.compared},
           {"absent", bisection.absent},         {"by_structure", bisection.by_structure},
           {"by_numbers", bisection.by_numbers}, {"conclusion", name_of(bisection.conclusion)},
           {"differs", bisection.differs()},     {"differences", differences_json(bisection.differences)}};
  if (bisection.differences.size() > most_in_json)
    out["differences_left_out"] = bisection.differences.size() - most_in_json;
  if (!bisection.ranking.empty()) out["ranking"] = differences_json(bisection.ranking);
  return out;
}

std::string bisect_json(const BisectReport& report) {
  Json out{{"model", report.model}};
  if (report.bisection) {
    out.update(bisection_json(*report.bisection));
  } else {
    out["find"] = *report.sought;
    out["found"] = report.found ? found_json(*report.found) : Json(nullptr);
  }
  return json_text(out);
}

}  // namespace grurun::report
