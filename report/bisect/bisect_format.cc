#include "report/bisect/bisect_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/json_text.h"
#include "report/judgement_json.h"
#include "tensor/printable.h"

namespace grurun::report {
namespace {

using Json = nlohmann::ordered_json;
using trial::Bisection;
using trial::Comparison;
using trial::FoundOddity;
using trial::ValueDifference;

/// Those that were looked at alone, up to the one that is made where it is seen.
std::vector<const ValueDifference*> looked_at(const Bisection& bisection) {
  std::vector<const ValueDifference*> out;
  for (const ValueDifference& difference : bisection.differences) {
    if (difference.alone || !difference.not_alone.empty()) out.push_back(&difference);
  }
  return out;
}

std::string shown(const ValueDifference& difference) {
  return fmt::format("{}, output '{}'", printable(difference.label), printable(difference.value));
}

std::string amount(const Comparison& comparison) {
  if (!comparison.structure.empty()) return printable(comparison.structure);
  return fmt::format("{} of {} elements differ, by at most {:.3g}", comparison.errors.differing,
                     comparison.errors.total, comparison.errors.max_abs);
}

/// What the node does by itself.
std::string alone(const ValueDifference& difference) {
  if (!difference.alone) return "not run alone: " + printable(difference.not_alone);
  return difference.alone->ok ? "alone it agrees: it hands on what it was given"
                              : "alone it differs, too: " + amount(*difference.alone);
}

std::string first_line(const Bisection& bisection) {
  const std::string counted =
      fmt::format("{} values compared with {}{}", bisection.compared, printable(bisection.reference),
                  bisection.absent > 0 ? fmt::format(", which has nothing for {}", bisection.absent) : "");
  if (bisection.differences.empty()) return "nothing differs: " + counted;
  const auto wrong = std::ranges::find_if(bisection.differences, &ValueDifference::is_made_here);
  if (wrong != bisection.differences.end())
    return fmt::format("first wrong: {}: {} ({})", shown(*wrong), alone(*wrong), counted);
  return fmt::format("first to differ: {}: {}; no node differs alone ({})",
                     shown(bisection.differences.front()), amount(bisection.differences.front().in_run),
                     counted);
}

std::string first_line(const BisectReport& report) {
  if (report.bisection) return first_line(*report.bisection);
  if (!report.found) return fmt::format("no node makes {}", *report.sought);
  const FoundOddity& found = *report.found;
  return fmt::format("first {}: {}, output '{}', a {}: {} of its elements, the first at [{}] is {}",
                     *report.sought, printable(found.label), printable(found.value), found.type, found.count,
                     fmt::join(found.index, ","), found.element);
}

std::string input_line(const trial::OddityInput& input) {
  std::string line = fmt::format("input '{}', a {}", printable(input.name), input.type);
  if (!input.range.empty()) line += ", " + input.range;
  if (!input.at_place.empty()) line += ", there " + input.at_place;
  return line;
}

std::string in_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

Json comparison_json(const Comparison& comparison) {
  Json out;
  add_comparison(out, comparison, false);
  return out;
}

Json difference_json(const ValueDifference& difference) {
  Json out{{"node", difference.label}, {"value", difference.value}};
  add_comparison(out, difference.in_run, false);
  if (difference.alone) out["alone"] = comparison_json(*difference.alone);
  if (!difference.not_alone.empty()) out["not_alone"] = difference.not_alone;
  out["made_here"] = difference.is_made_here();
  return out;
}

Json found_json(const FoundOddity& found) {
  Json inputs = Json::array();
  for (const trial::OddityInput& input : found.inputs)
    inputs.push_back(
        {{"name", input.name}, {"type", input.type}, {"range", input.range}, {"at_place", input.at_place}});
  return {{"node", found.label},        {"value", found.value}, {"type", found.type},
          {"count", found.count},       {"index", found.index}, {"element", found.element},
          {"inputs", std::move(inputs)}};
}

}  // namespace

int BisectReport::exit_status() const {
  return (bisection && !bisection->differences.empty()) || found ? 1 : 0;
}

std::string bisect_text(const BisectReport& report) {
  std::string text = first_line(report) + "\n";
  if (report.found) {
    for (const trial::OddityInput& input : report.found->inputs) text += "  " + input_line(input) + "\n";
  }
  if (!report.bisection) return text;
  for (const ValueDifference* difference : looked_at(*report.bisection)) {
    text += fmt::format("  {}\n    in the run: {}\n    {}\n", shown(*difference), amount(difference->in_run),
                        alone(*difference));
  }
  const std::size_t rest = report.bisection->differences.size() - looked_at(*report.bisection).size();
  if (rest > 0) text += fmt::format("  {} values behind them differ, too (--all looks at each)\n", rest);
  return text;
}

std::string bisect_markdown(const BisectReport& report) {
  std::string text = fmt::format("# grurun bisect {}\n\n{}\n", printable(report.model), first_line(report));
  if (report.found) {
    text += "\n";
    for (const trial::OddityInput& input : report.found->inputs) text += "- " + input_line(input) + "\n";
  }
  if (!report.bisection || report.bisection->differences.empty()) return text;
  text += "\n| node | value | in the run | alone |\n|---|---|---|---|\n";
  for (const ValueDifference* difference : looked_at(*report.bisection)) {
    text += fmt::format("| {} | {} | {} | {} |\n", in_cell(printable(difference->label)),
                        in_cell(printable(difference->value)), in_cell(amount(difference->in_run)),
                        in_cell(alone(*difference)));
  }
  return text;
}

std::string bisect_json(const BisectReport& report) {
  Json out{{"model", report.model}};
  if (report.bisection) {
    out["reference"] = report.bisection->reference;
    out["compared"] = report.bisection->compared;
    out["absent"] = report.bisection->absent;
    Json differences = Json::array();
    for (const ValueDifference& each : report.bisection->differences)
      differences.push_back(difference_json(each));
    out["differences"] = std::move(differences);
  } else {
    out["find"] = *report.sought;
    out["found"] = report.found ? found_json(*report.found) : Json(nullptr);
  }
  return json_text(out);
}

}  // namespace grurun::report
