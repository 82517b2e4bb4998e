#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/bisect/bisect_words.h"
#include "report/bounded.h"
#include "report/counted.h"
#include "tensor/printable.h"

namespace grurun::report {
namespace {

using trial::ValueDifference;

std::string in_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

}  // namespace

int BisectReport::exit_status() const {
  return (bisection && bisection->differs()) || found ? 1 : 0;
}

std::string bisection_text(const trial::Bisection& bisection) {
  std::string text = first_line(bisection) + "\n";
  const std::vector<const ValueDifference*> looked = looked_at(bisection);
  const auto lines = [](const ValueDifference* difference) {
    std::string out = fmt::format("  {}\n    in the run: {}\n    {}\n", shown(*difference),
                                  amount(difference->in_run), alone(*difference));
    for (const std::string& line : detail_lines(*difference)) out += "    " + line + "\n";
    return out;
  };
  text += lines_of(looked, lines, "  ");
  std::size_t place = 0;
  for (const ValueDifference& each : ranked(bisection)) {
    if (place == 0) text += "where error is made, the most first:\n";
    text += fmt::format("  {}. {}: {}\n     in the run: {}\n", ++place, shown(each), how_far(*each.alone),
                        how_far(each.in_run));
  }
  const std::size_t rest = looked.empty() ? 0 : bisection.differences.size() - looked.size();
  if (rest > 0)
    text += fmt::format("  {} after it {}, too (--all looks at each)\n", counted(rest, "value"),
                        rest == 1 ? "differs" : "differ");
  return text;
}

std::string bisect_text(const BisectReport& report) {
  if (report.bisection) return bisection_text(*report.bisection);
  std::string text = first_line(report) + "\n";
  if (report.found) {
    for (const std::string& line : found_lines(*report.found)) text += "  " + line + "\n";
  }
  return text;
}

std::string bisect_markdown(const BisectReport& report) {
  std::string text = fmt::format("# grurun bisect {}\n\n{}\n", printable(report.model), first_line(report));
  if (report.found) {
    text += "\n";
    for (const std::string& line : found_lines(*report.found)) text += "- " + line + "\n";
  }
  if (!report.bisection || (report.bisection->differences.empty() && report.bisection->ranking.empty()))
    return text;
  text += "\n| node | value | in the run | alone |\n|---|---|---|---|\n";
  const std::vector<const ValueDifference*> looked = looked_at(*report.bisection);
  for (const ValueDifference* difference : first_of(looked, most_in_text)) {
    text += fmt::format("| {} | {} | {} | {} |\n", in_cell(printable(difference->label)),
                        in_cell(printable(difference->value)), in_cell(amount(difference->in_run)),
                        in_cell(alone(*difference)));
  }
  text += left_out(looked.size(), most_in_text, "\n");
  for (const ValueDifference* difference : first_of(looked, most_in_text)) {
    const std::vector<std::string> lines = detail_lines(*difference);
    if (lines.empty() || !difference->is_made_here()) continue;
    text += fmt::format("\n{}:\n\n", shown(*difference));
    for (const std::string& line : lines) text += "- " + line + "\n";
  }
  const auto ranking = ranked(*report.bisection);
  if (!ranking.empty())
    text += "\n| error made, the most first | value | alone | in the run |\n|---|---|---|---|\n";
  for (const ValueDifference& each : ranking) {
    text +=
        fmt::format("| {} | {} | {} | {} |\n", in_cell(printable(each.label)), in_cell(printable(each.value)),
                    in_cell(how_far(*each.alone)), in_cell(how_far(each.in_run)));
  }
  return text;
}

}  // namespace grurun::report
