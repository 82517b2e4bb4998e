#include <fmt/format.h>

#include <algorithm>

#include "conformance/official/official_cases.h"
#include "report/counted.h"
#include "report/suite/suite_diff.h"
#include "report/suite/suite_format.h"
#include "report/suite/tally.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

// GitHub refuses summaries beyond a megabyte.
constexpr std::size_t most_cases = 50;
constexpr std::size_t longest_text = 600;

/// Text from models and files in a cell or a line: no mark of it means anything.
std::string markdown_text(const std::string& text) {
  std::string out;
  const std::string shown = printable(text);
  const std::size_t end = std::min(shown.size(), longest_text);
  for (std::size_t i = 0; i < end; ++i) {
    const char c = shown[i];
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#~").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return end < shown.size() ? out + " ..." : out;
}

std::string markdown_kinds(const Tally& tally) {
  std::string head = "| kind |";
  std::string rule = "|---|";
  for (int v = 0; v < conformance::verdict_count; ++v) {
    if (tally.all.by_verdict[v] == 0) continue;
    head += fmt::format(" {} |", conformance::verdict_name(static_cast<conformance::Verdict>(v)));
    rule += "---:|";
  }
  std::string out = head + "\n" + rule + "\n";
  for (const auto& [kind, counts] : tally.by_kind) {
    out += "| " + markdown_text(kind) + " |";
    for (int v = 0; v < conformance::verdict_count; ++v)
      if (tally.all.by_verdict[v] > 0) out += fmt::format(" {} |", counts.by_verdict[v]);
    out += '\n';
  }
  return out;
}

/// Rules of a policy that let outputs fail, each once.
std::vector<trial::AccuracyRule> rules_of(const conformance::CaseResult& result) {
  std::vector<trial::AccuracyRule> rules;
  for (const conformance::OutputResult& output : result.outputs) {
    const std::optional<trial::AccuracyRule>& rule = output.comparison.rule;
    if (output.comparison.ok || !rule) continue;
    const auto is_it = [&](const trial::AccuracyRule& known) { return known.place == rule->place; };
    if (std::ranges::none_of(rules, is_it)) rules.push_back(*rule);
  }
  return rules;
}

std::string markdown_case(const conformance::SuiteResult& result, std::size_t i, const std::string& ending) {
  const conformance::CaseOutcome& outcome = result.outcomes[i];
  std::string out = fmt::format("- **{}** {}", conformance::verdict_name(outcome.result.verdict),
                                markdown_text(result.cases[i].full_name() + ending));
  if (!outcome.result.message.empty()) out += ": " + markdown_text(outcome.result.message);
  const std::string note = expectation_note(result, outcome);
  if (!note.empty()) out += " (" + markdown_text(note) + ")";
  out += '\n';
  if (outcome.expectation != nullptr && !outcome.expectation->bounds.empty())
    out += "  - bounds of the list: " + markdown_text(to_string(outcome.expectation->bounds)) + "\n";
  for (const trial::AccuracyRule& rule : rules_of(outcome.result))
    out += "  - judged by " + markdown_text(rule.place + ": " + rule.reason) + "\n";
  if (!outcome.attempts.empty()) out += "  - run again: " + markdown_text(attempts_note(outcome)) + "\n";
  for (const std::string& why : reasons_of(outcome.result)) out += "  - why: " + markdown_text(why) + "\n";
  return out;
}

/// A title and a line for each, so many at most; nothing where there are none.
std::string markdown_list(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string out = "\n### " + title + "\n\n";
  for (std::size_t i = 0; i < std::min(lines.size(), most_cases); ++i) out += "- " + lines[i] + "\n";
  if (lines.size() > most_cases) out += fmt::format("- and {} more\n", lines.size() - most_cases);
  return out;
}

std::vector<std::string> flaky_lines_in_markdown(const conformance::SuiteResult& result,
                                                 const std::vector<std::string>& endings) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < result.cases.size(); ++i)
    if (result.outcomes[i].is_flaky())
      lines.push_back(markdown_text(result.cases[i].full_name() + endings[i]) + ": " +
                      markdown_text(attempts_note(result.outcomes[i])));
  return lines;
}

std::vector<std::string> changes_in_markdown(const conformance::SuiteResult& result) {
  std::vector<std::string> lines;
  for (const Change& change : diff_suites(*result.former, result).changes)
    lines.push_back(fmt::format("**{}** {}: {}", change_name(change.kind), markdown_text(change.name),
                                markdown_text(change.text)));
  if (lines.empty()) lines.emplace_back("nothing changed");
  return lines;
}

}  // namespace

std::string markdown_report(const conformance::SuiteResult& result) {
  const Tally tally = count(result);
  std::string out =
      fmt::format("## Conformance: {}\n\n{}", result.as_expected() ? "as expected" : "not as expected",
                  counted(tally.all.total(), "case"));
  if (result.unexpected() > 0) out += fmt::format(", **{} not as expected**", result.unexpected());
  if (result.not_run() > 0) out += fmt::format(", {} not run", result.not_run());
  out += fmt::format(", {:.2f} s\n\n", result.seconds);
  if (result.sides != conformance::Sides())
    out += fmt::format("actual: {}; expected: {}\n\n", markdown_text(result.sides.actual),
                       markdown_text(result.sides.expected));
  out += markdown_kinds(tally);
  const std::vector<std::string> endings = name_endings(result.cases);
  std::string failures;
  std::size_t told = 0;
  for (std::size_t i = 0; i < result.cases.size(); ++i)
    if (result.outcomes[i].unexpected && ++told <= most_cases)
      failures += markdown_case(result, i, endings[i]);
  if (told > most_cases) failures += fmt::format("- and {} more\n", told - most_cases);
  if (told > 0) out += "\n### Not as expected\n\n" + failures;
  std::vector<std::string> stale, unused, not_run;
  if (const auto code = result.no_cases.find(conformance::node_cases_as_code); code != result.no_cases.end())
    for (const std::string& folder : code->second)
      not_run.push_back(fmt::format("node cases: {} ({})", markdown_text(folder), code->first));
  for (const conformance::Expectation* line : result.stale)
    stale.push_back(markdown_text(stale_note(result, *line)));
  for (const std::string& line : result.unused_rules) unused.push_back(markdown_text(line));
  out += markdown_list("Stale expectations", stale) + markdown_list("Unused rules of the policy", unused) +
         markdown_list("Not run", not_run) + markdown_list("Flaky", flaky_lines_in_markdown(result, endings));
  if (result.former)
    out += markdown_list("Since " + markdown_text(result.former_file), changes_in_markdown(result));
  return out;
}

}  // namespace grurun::report
