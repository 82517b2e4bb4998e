#include <fmt/format.h>

#include "report/bisect/bisect_format.h"
#include "report/bounded.h"
#include "report/run/run_format.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

std::string judgement_line(const trial::Judgement& judgement) {
  if (!judgement.compared) return "  not compared: no expected value is given\n";
  const bool is_sample = judgement.random && judgement.comparison.ok;
  return fmt::format("  {}: {}\n", judgement.differs() ? "differs" : "as expected",
                     is_sample ? "random values, checked by type, shape and distribution"
                               : printable(trial::describe(judgement.comparison)));
}

}  // namespace

std::string run_text(const RunReport& run) {
  std::string text;
  const bool all = run.shows_values && run.shows_values->max_items == PrintOptions::full().max_items;
  const std::size_t size = run.outcome.outputs.size(), shown = all ? size : std::min(size, most_in_text);
  for (std::size_t i = 0; i < shown; ++i) {
    const Value& value = run.outcome.outputs[i];
    text += fmt::format("{}  {}\n", printable_name(run.outputs[i]), value.describe());
    if (run.shows_values) text += print_value(value, *run.shows_values);
    if (run.compares) text += judgement_line(run.outcome.judgements[i]);
  }
  text += left_out(size, shown, "");
  for (const trial::Explanation& finding : run.reasons) {
    text += fmt::format("{}{}\n",
                        finding.kind == "precision" ? "" : "why: ", printable(trial::describe(finding)));
  }
  const std::size_t between = all ? run.between.size() : std::min(run.between.size(), most_in_text);
  for (std::size_t i = 0; i < between; ++i) {
    const auto& [name, value] = run.between[i];
    text += fmt::format("{}  {}\n", printable_name(name), value.describe());
    if (run.shows_values) text += print_value(value, *run.shows_values);
  }
  text += left_out(run.between.size(), between, "");
  if (run.bisection) text += bisection_text(*run.bisection);
  return text;
}

}  // namespace grurun::report
