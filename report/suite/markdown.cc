#include <fmt/format.h>

#include <algorithm>

#include "report/counted.h"
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

std::string markdown_case(const conformance::SuiteResult& result, std::size_t i, const std::string& ending) {
  const conformance::CaseOutcome& outcome = result.outcomes[i];
  std::string out = fmt::format("- **{}** {}", conformance::verdict_name(outcome.result.verdict),
                                markdown_text(result.cases[i].full_name() + ending));
  if (!outcome.result.message.empty()) out += ": " + markdown_text(outcome.result.message);
  const std::string note = expectation_note(result, outcome);
  if (!note.empty()) out += " (" + markdown_text(note) + ")";
  out += '\n';
  for (const std::string& why : reasons_of(outcome.result)) out += "  - why: " + markdown_text(why) + "\n";
  return out;
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
  out += markdown_kinds(tally);
  const std::vector<std::string> endings = name_endings(result.cases);
  std::string failures;
  std::size_t told = 0;
  for (std::size_t i = 0; i < result.cases.size(); ++i)
    if (result.outcomes[i].unexpected && ++told <= most_cases)
      failures += markdown_case(result, i, endings[i]);
  if (told > most_cases) failures += fmt::format("- and {} more\n", told - most_cases);
  if (told > 0) out += "\n### Not as expected\n\n" + failures;
  if (!result.stale.empty()) out += "\n### Stale expectations\n\n";
  for (const conformance::Expectation* line : result.stale)
    out += "- " + markdown_text(stale_note(result, *line)) + "\n";
  return out;
}

}  // namespace grurun::report
