#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "report/counted.h"
#include "report/suite/suite_format.h"
#include "report/suite/tally.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

constexpr std::size_t names_shown = 8;

std::string case_lines(const conformance::SuiteResult& result) {
  std::string out;
  const std::vector<std::string> endings = name_endings(result.cases);
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    const conformance::CaseOutcome& outcome = result.outcomes[i];
    if (!outcome.ran || (conformance::is_good(outcome.result.verdict) && !outcome.unexpected &&
                         outcome.result.verdict != conformance::Verdict::known_wrong))
      continue;
    out += fmt::format("{:<11}  {}", conformance::verdict_name(outcome.result.verdict),
                       printable(result.cases[i].full_name() + endings[i]));
    if (!outcome.result.message.empty()) out += ": " + printable(outcome.result.message);
    const std::string note = expectation_note(result, outcome);
    if (!note.empty()) out += " [" + printable(note) + "]";
    out += '\n';
    for (const trial::Explanation& finding : outcome.result.findings) {
      out += "             why: " + printable(describe(finding)) + '\n';
    }
  }
  return out;
}

/// One line for each rule and operator, as it was first broken; how often, where that is not all.
std::string warning_lines(const conformance::SuiteResult& result) {
  struct Alike {
    std::string first;
    std::size_t times = 0;
    std::set<std::size_t> cases;
  };
  using Rule = std::pair<std::string, std::string>;  // code and operator
  std::map<Rule, Alike> groups;
  std::vector<Rule> order;
  const std::vector<std::string> endings = name_endings(result.cases);
  for (std::size_t i = 0; i < result.cases.size(); ++i)
    for (const conformance::Warning& warning : result.outcomes[i].result.warnings) {
      const Rule rule(warning.finding.code, warning.finding.op);
      Alike& alike = groups[rule];
      if (alike.times == 0) {
        order.push_back(rule);
        alike.first =
            printable(result.cases[i].full_name() + endings[i]) + ": " + printable(describe(warning));
      }
      ++alike.times;
      alike.cases.insert(i);
    }
  std::string out;
  for (const Rule& rule : order) {
    const Alike& alike = groups[rule];
    out += fmt::format("warning      {}\n", alike.first);
    if (alike.times == 1) continue;
    const std::string of = rule.second.empty() ? "" : " of " + rule.second;
    out += fmt::format("             the first of {} warnings {}{}, in {}\n", alike.times, rule.first,
                       printable(of), counted(alike.cases.size(), "case"));
  }
  return out;
}

std::string other_lines(const conformance::SuiteResult& result) {
  std::string out;
  for (const auto& [reason, names] : result.no_cases) {
    const std::size_t shown = std::min(names.size(), names_shown);
    out += fmt::format("no case ({}): {} ", reason, names.size());
    for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "- " : ", ") + printable(names[i]);
    out += names.size() > shown ? fmt::format(" and {} more\n", names.size() - shown) : "\n";
  }
  for (const conformance::Expectation* line : result.stale)
    out += "expectation  " + printable(stale_note(result, *line)) + '\n';
  return out;
}

/// Columns for the verdicts that occur anywhere; no table for no rows.
std::string table(const std::string& title, const std::map<std::string, Counts>& rows, const Counts& all) {
  if (rows.empty()) return {};
  std::size_t width = title.size();
  for (const auto& [name, counts] : rows) width = std::max(width, printable(name).size());
  std::string out = fmt::format("\n{:<{}}", title, width);
  for (int v = 0; v < conformance::verdict_count; ++v)
    if (all.by_verdict[v] > 0)
      out += fmt::format("  {}", conformance::verdict_name(static_cast<conformance::Verdict>(v)));
  out += '\n';
  for (const auto& [name, counts] : rows) {
    out += fmt::format("{:<{}}", printable(name), width);
    for (int v = 0; v < conformance::verdict_count; ++v) {
      if (all.by_verdict[v] == 0) continue;
      out += fmt::format(
          "  {:>{}}", counts.by_verdict[v],
          std::string_view(conformance::verdict_name(static_cast<conformance::Verdict>(v))).size());
    }
    out += '\n';
  }
  return out;
}

std::string last_line(const conformance::SuiteResult& result, const Tally& tally) {
  std::string out = fmt::format("\n{} case{} in {:.2f} s:", tally.all.total(),
                                tally.all.total() == 1 ? "" : "s", result.seconds);
  const char* separator = " ";
  for (int v = 0; v < conformance::verdict_count; ++v) {
    if (tally.all.by_verdict[v] == 0) continue;
    out += fmt::format("{}{} {}", separator, tally.all.by_verdict[v],
                       conformance::verdict_name(static_cast<conformance::Verdict>(v)));
    separator = ", ";
  }
  if (result.not_run() > 0)
    out += fmt::format("; {} not run ({})", result.not_run(),
                       result.end == conformance::PoolEnd::interrupted
                           ? "interrupted"
                           : "stopped at the first unexpected verdict");
  if (result.unexpected() > 0) out += fmt::format("; {} not as expected", result.unexpected());
  if (!result.stale.empty())
    out += fmt::format("; {} expectation{} without a case", result.stale.size(),
                       result.stale.size() == 1 ? "" : "s");
  if (const std::size_t cases = with_warnings(result); cases > 0)
    out += fmt::format("; warnings about {} case{}", cases, cases == 1 ? "" : "s");
  return out + '\n';
}

}  // namespace

std::string console_report(const conformance::SuiteResult& result) {
  const Tally tally = count(result);
  std::map<std::string, Counts> troubled;
  Counts in_trouble;
  for (const auto& [name, counts] : tally.by_operator) {
    if (counts.not_good() == 0) continue;
    troubled.emplace(name, counts);
    for (int v = 0; v < conformance::verdict_count; ++v) in_trouble.by_verdict[v] += counts.by_verdict[v];
  }
  std::string out;
  if (result.sides != conformance::Sides())
    out += fmt::format("actual: {}; expected: {}\n\n", printable(result.sides.actual),
                       printable(result.sides.expected));
  out += case_lines(result) + warning_lines(result) + other_lines(result);
  out += table("kind", tally.by_kind, tally.all);
  out += table("operator", troubled, in_trouble);
  if (!tally.by_operator.empty())
    out += fmt::format("\n{} operator{}; all cases of {} passed\n", tally.by_operator.size(),
                       tally.by_operator.size() == 1 ? "" : "s", tally.by_operator.size() - troubled.size());
  out += last_line(result, tally);
  return out;
}

ProgressBar::ProgressBar(std::FILE* stream) : stream_(stream), is_terminal_(isatty(fileno(stream)) == 1) {}

void ProgressBar::draw(const conformance::SuiteResult& so_far, std::size_t done) {
  if (!is_terminal_) return;
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (now - last_drawn_ < 0.1 && done < so_far.cases.size()) return;
  last_drawn_ = now;
  winsize size{};
  const int columns = ioctl(fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  const std::string numbers =
      fmt::format(" {}/{}, {} unexpected", done, so_far.cases.size(), so_far.unexpected());
  const int width = std::clamp(columns - static_cast<int>(numbers.size()) - 3, 4, 60);
  const int filled = static_cast<int>(static_cast<double>(width) * static_cast<double>(done) /
                                      static_cast<double>(std::max<std::size_t>(so_far.cases.size(), 1)));
  // A terminal that went away is no reason to end the run.
  std::fputs(
      fmt::format("\r[{:<{}}]{}\x1b[K", std::string(static_cast<std::size_t>(filled), '#'), width, numbers)
          .c_str(),
      stream_);
  std::fflush(stream_);
}

void ProgressBar::clear() {
  if (!is_terminal_ || last_drawn_ == 0) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
}

}  // namespace grurun::report
