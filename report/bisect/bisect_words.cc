#include "report/bisect/bisect_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tensor/printable.h"

namespace grurun::report {

using trial::Bisection;
using trial::Comparison;
using trial::FoundOddity;
using trial::ValueDifference;

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

std::string alone(const ValueDifference& difference) {
  if (!difference.alone) return "not run alone: " + printable(difference.not_alone);
  std::string subject = "alone it";
  if (!difference.with.empty())
    subject = fmt::format(
        "with {}{}, of which the reference has no values, it", printable(difference.with.front()),
        difference.with.size() == 1 ? "" : fmt::format(" and {} more", difference.with.size() - 1));
  return difference.alone->ok ? subject + " agrees: it hands on what it was given"
                              : subject + " differs, too: " + amount(*difference.alone);
}

std::span<const ValueDifference> ranked(const Bisection& bisection) {
  constexpr std::ptrdiff_t most = 10;
  const auto end = std::ranges::find_if(bisection.ranking, [](const ValueDifference& difference) {
    return trial::relative_error(*difference.alone) == 0;
  });
  return {bisection.ranking.begin(),
          std::min(end, bisection.ranking.begin() +
                            std::min<std::ptrdiff_t>(most, std::ssize(bisection.ranking)))};
}

std::string first_line(const Bisection& bisection) {
  std::string counted =
      fmt::format("{} values compared with {}", bisection.compared, printable(bisection.reference));
  if (bisection.by_structure > 0) counted += fmt::format(", {} paired by structure", bisection.by_structure);
  if (bisection.by_numbers > 0) counted += fmt::format(", {} paired by numbers", bisection.by_numbers);
  if (bisection.absent > 0) counted += fmt::format(", which has nothing for {}", bisection.absent);
  if (bisection.differences.empty()) return "nothing differs: " + counted;
  const auto wrong = std::ranges::find_if(bisection.differences, &ValueDifference::is_made_here);
  if (wrong != bisection.differences.end())
    return fmt::format("first wrong: {}: {} ({})", shown(*wrong), alone(*wrong), counted);
  return fmt::format("first to differ: {}: {}; no node differs alone ({})",
                     shown(bisection.differences.front()), amount(bisection.differences.front().in_run),
                     counted);
}

std::vector<std::string> detail_lines(const ValueDifference& difference) {
  std::vector<std::string> lines;
  const trial::NodeDetails& details = difference.details;
  if (!details.attributes.empty())
    lines.push_back(fmt::format("attributes: {}", fmt::join(details.attributes, ", ")));
  for (const std::string& input : details.inputs) lines.push_back("input " + input);
  if (difference.alone && difference.alone->worst) {
    const trial::ElementPair& worst = *difference.alone->worst;
    lines.push_back(fmt::format("worst element{} [{}]: {}, the reference has {}", worst.where,
                                fmt::join(worst.index, ","), worst.actual, worst.expected));
  }
  for (const trial::Explanation& reason : details.reasons) lines.push_back("why: " + reason.text);
  for (const auto& [key, text] : details.origin) lines.push_back(fmt::format("{}: {}", key, text));
  for (std::string& line : lines) line = printable(line);
  return lines;
}

std::string how_far(const Comparison& comparison) {
  if (!comparison.structure.empty()) return printable(comparison.structure);
  std::string text = fmt::format("SNR {:.1f} dB, cosine {:.6f}, max abs {:.3g}", comparison.energies.snr(),
                                 comparison.energies.cosine(), comparison.errors.max_abs);
  if (comparison.errors.max_ulp) text += fmt::format(", {} ULP", *comparison.errors.max_ulp);
  return text;
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

}  // namespace grurun::report
