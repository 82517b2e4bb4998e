#include "report/bisect/bisect_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/bounded.h"
#include "report/counted.h"
#include "tensor/printable.h"

namespace grurun::report {

using trial::Bisection;
using trial::Comparison;
using trial::Conclusion;
using trial::FoundOddity;
using trial::ValueDifference;

std::vector<const ValueDifference*> looked_at(const Bisection& bisection) {
  std::vector<const ValueDifference*> out;
  for (const ValueDifference& difference : bisection.differences) {
    if (bisection.differs() && (difference.alone || !difference.not_alone.empty()))
      out.push_back(&difference);
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
  if (difference.alone->ok) return subject + " agrees: it passes on what it was given";
  return subject + (difference.is_rounding() ? " differs by rounding only: " : " differs, too: ") +
         amount(*difference.alone);
}

namespace {

void add_first_of(std::vector<std::string>& lines, const char* begin, const std::vector<std::string>& list) {
  for (const std::string& line : first_of(list, most_in_text)) lines.push_back(begin + line);
  if (list.size() > most_in_text) lines.push_back(fmt::format("and {} more", list.size() - most_in_text));
}

std::string differing(std::ptrdiff_t values) {
  return fmt::format("{} {}", counted(static_cast<std::size_t>(values), "value"),
                     values == 1 ? "differs" : "differ");
}

}  // namespace

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
  std::string held =
      fmt::format("{} values compared with {}", bisection.compared, printable(bisection.reference));
  if (bisection.by_structure > 0) held += fmt::format(", {} paired by structure", bisection.by_structure);
  if (bisection.by_numbers > 0) held += fmt::format(", {} paired by numbers", bisection.by_numbers);
  if (bisection.absent > 0) held += fmt::format(", which has nothing for {}", bisection.absent);
  const std::vector<ValueDifference>& all = bisection.differences;
  const auto live = std::ranges::count_if(all, &ValueDifference::is_live);
  const auto first = [&] { return fmt::format("{}: {}", shown(all.front()), amount(all.front().in_run)); };
  switch (bisection.conclusion) {
    case Conclusion::nothing:
      return "nothing differs: " + held;
    case Conclusion::unread:
      return fmt::format("nothing differs that an output depends on: {}; {} that no output depends on: {}",
                         held, differing(std::ssize(all)), first());
    case Conclusion::at_outputs:
      return fmt::format(
          "nothing differs at the outputs: {}; {} on the way, and no node makes that alone: {}", held,
          differing(live), first());
    case Conclusion::rounding:
      return fmt::format("nothing differs but by rounding: {}; {}, and no node makes that alone: {}", held,
                         differing(live), first());
    case Conclusion::gathered:
      if (bisection.ranking.empty()) break;
      return fmt::format(
          "first to differ: {}; no node is beyond the tolerance alone; the most error is added by {}: {} "
          "({})",
          first(), shown(bisection.ranking.front()), how_far(*bisection.ranking.front().alone), held);
    case Conclusion::unexplained:
      break;
    case Conclusion::made: {
      const auto wrong = std::ranges::find_if(all, &ValueDifference::is_made_here);
      return fmt::format("first wrong: {}: {} ({})", shown(*wrong), alone(*wrong), held);
    }
  }
  return fmt::format("first to differ: {}; no node differs alone ({})", first(), held);
}

std::vector<std::string> detail_lines(const ValueDifference& difference) {
  std::vector<std::string> lines;
  const trial::NodeDetails& details = difference.details;
  if (!details.attributes.empty())
    lines.push_back(
        fmt::format("attributes: {}", fmt::join(first_of(details.attributes, most_in_text), ", ")));
  add_first_of(lines, "input ", details.inputs);
  if (difference.alone && difference.alone->worst) {
    const trial::ElementPair& worst = *difference.alone->worst;
    lines.push_back(fmt::format("worst element{} [{}]: {}, the reference has {}", worst.where,
                                fmt::join(worst.index, ","), worst.actual, worst.expected));
  }
  for (const trial::Explanation& reason : details.reasons) lines.push_back("why: " + reason.text);
  std::vector<std::string> notes;
  for (const auto& [key, text] : details.origin) notes.push_back(fmt::format("{}: {}", key, text));
  add_first_of(lines, "", notes);
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

namespace {

std::string input_line(const trial::OddityInput& input) {
  std::string line = fmt::format("input '{}', a {}", printable(input.name), input.type);
  if (!input.range.empty()) line += ", " + input.range;
  if (!input.at_place.empty()) line += ", there " + input.at_place;
  return line;
}

std::string held_by(const FoundOddity& given) {
  return fmt::format("{}, a {}: {} of its elements, the first at [{}] is {}", printable(given.label),
                     given.type, given.count, fmt::join(given.index, ","), given.element);
}

}  // namespace

std::vector<std::string> found_lines(const FoundOddity& found) {
  std::vector<std::string> inputs, lines;
  for (const trial::OddityInput& input : found.inputs) inputs.push_back(input_line(input));
  add_first_of(lines, "", inputs);
  constexpr std::size_t most = 10;
  const std::size_t begin = found.is_made ? 0 : 1, end = std::min(found.given.size(), begin + most);
  for (std::size_t i = begin; i < end; ++i) lines.push_back("held, too, by " + held_by(found.given[i]));
  if (end < found.given.size()) lines.push_back(fmt::format("and by {} more", found.given.size() - end));
  return lines;
}

std::string first_line(const BisectReport& report) {
  if (report.bisection) return first_line(*report.bisection);
  if (!report.found)
    return fmt::format("no node makes {}, and no input, weight or constant holds one", *report.sought);
  const FoundOddity& found = *report.found;
  if (!found.is_made)
    return fmt::format("first {}: {}; no node makes one by itself", *report.sought, held_by(found));
  return fmt::format("first {}: {}, output '{}', a {}: {} of its elements, the first at [{}] is {}",
                     *report.sought, printable(found.label), printable(found.value), found.type, found.count,
                     fmt::join(found.index, ","), found.element);
}

}  // namespace grurun::report
