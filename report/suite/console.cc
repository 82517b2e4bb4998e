#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "conformance/official/official_cases.h"
#include "report/bounded.h"
#include "report/counted.h"
#include "report/suite/suite_format.h"
#include "report/suite/tally.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

constexpr std::size_t names_shown = 8;

/// Cases that did not pass: first those that end as they should, then the others by verdict, so that what is
/// to be looked at stands together and last.
std::vector<std::size_t> told_cases(const conformance::SuiteResult& result) {
  std::vector<std::size_t> told;
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    const conformance::CaseOutcome& outcome = result.outcomes[i];
    const conformance::Verdict verdict = outcome.result.verdict;
    const bool is_told =
        outcome.unexpected || !conformance::is_good(verdict) || verdict == conformance::Verdict::known_wrong;
    if (outcome.ran && is_told) told.push_back(i);
  }
  const auto group = [&](std::size_t i) {
    const conformance::CaseOutcome& outcome = result.outcomes[i];
    return outcome.unexpected ? 1 + static_cast<int>(outcome.result.verdict) : 0;
  };
  std::stable_sort(told.begin(), told.end(),
                   [&](std::size_t a, std::size_t b) { return group(a) < group(b); });
  return told;
}

/// The message tells the first output that differs; these are the others.
std::string other_outputs(const conformance::CaseResult& result) {
  std::vector<const conformance::OutputResult*> others;
  bool is_first = true;
  for (const conformance::OutputResult& output : result.outputs)
    if (!output.comparison.ok && !std::exchange(is_first, false)) others.push_back(&output);
  return lines_of(
      others,
      [](const conformance::OutputResult* output) {
        const std::string set = output->data_set.empty() ? "" : output->data_set + ", ";
        return fmt::format("             {}\n", printable(fmt::format("{}output '{}': {}", set, output->name,
                                                                      describe(output->comparison))));
      },
      "             ");
}

/// Of cases that were run again: how each run ended.
std::string flaky_lines(const conformance::SuiteResult& result) {
  std::string out;
  const std::vector<std::string> endings = name_endings(result.cases);
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    const conformance::CaseOutcome& outcome = result.outcomes[i];
    if (outcome.attempts.empty()) continue;
    out +=
        fmt::format("{:<11}  {}: {}\n", outcome.is_flaky() ? "flaky" : "run again",
                    printable(result.cases[i].full_name() + endings[i]), printable(attempts_note(outcome)));
  }
  return out;
}

std::string case_lines(const conformance::SuiteResult& result) {
  std::string out;
  const std::vector<std::string> endings = name_endings(result.cases);
  for (const std::size_t i : told_cases(result)) {
    const conformance::CaseOutcome& outcome = result.outcomes[i];
    out += fmt::format("{:<11}  {}", conformance::verdict_name(outcome.result.verdict),
                       printable(result.cases[i].full_name() + endings[i]));
    if (!outcome.result.message.empty()) out += ": " + printable(outcome.result.message);
    const std::string note = expectation_note(result, outcome);
    if (!note.empty()) out += " [" + printable(note) + "]";
    out += '\n';
    if (outcome.result.verdict == conformance::Verdict::differs) out += other_outputs(outcome.result);
    out += lines_of(
        reasons_of(outcome.result),
        [](const std::string& why) { return "             why: " + printable(why) + '\n'; }, "             ");
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
  return lines_of(
      order,
      [&](const Rule& rule) {
        const Alike& alike = groups[rule];
        std::string line = fmt::format("warning      {}\n", alike.first);
        if (alike.times == 1) return line;
        const std::string of = rule.second.empty() ? "" : " of " + rule.second;
        return line + fmt::format("             the first of {} warnings {}{}, in {}\n", alike.times,
                                  rule.first, printable(of), counted(alike.cases.size(), "case"));
      },
      "warning      ");
}

std::string other_lines(const conformance::SuiteResult& result) {
  std::string out;
  for (const auto& [reason, names] : result.no_cases) {
    const std::size_t shown = std::min(names.size(), names_shown);
    out += fmt::format("no case ({}): {} ", reason, names.size());
    for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "- " : ", ") + printable(names[i]);
    out += names.size() > shown ? fmt::format(" and {} more\n", names.size() - shown) : "\n";
  }
  out += lines_of(
      result.stale,
      [&](const conformance::Expectation* line) {
        return "expectation  " + printable(stale_note(result, *line)) + '\n';
      },
      "expectation  ");
  return out + lines_of(
                   result.unused_rules,
                   [](const std::string& line) { return "policy       " + printable(line) + '\n'; },
                   "policy       ");
}

/// Columns for the verdicts that occur anywhere; no table for no rows.
std::string table(const std::string& title, const std::map<std::string, Counts>& rows, const Counts& all) {
  if (rows.empty()) return {};
  std::size_t width = title.size(), shown = 0;
  for (const auto& [name, counts] : rows) {
    if (++shown > most_in_text) break;
    width = std::max(width, printable_name(name).size());
  }
  std::string out = fmt::format("\n{:<{}}", title, width);
  for (int v = 0; v < conformance::verdict_count; ++v)
    if (all.by_verdict[v] > 0)
      out += fmt::format("  {}", conformance::verdict_name(static_cast<conformance::Verdict>(v)));
  out += '\n';
  shown = 0;
  for (const auto& [name, counts] : rows) {
    if (++shown > most_in_text) break;
    out += fmt::format("{:<{}}", printable_name(name), width);
    for (int v = 0; v < conformance::verdict_count; ++v) {
      if (all.by_verdict[v] == 0) continue;
      out += fmt::format(
          "  {:>{}}", counts.by_verdict[v],
          std::string_view(conformance::verdict_name(static_cast<conformance::Verdict>(v))).size());
    }
    out += '\n';
  }
  return out + left_out(rows.size(), most_in_text, "");
}

const char* why_not_run(conformance::PoolEnd end) {
  if (end == conformance::PoolEnd::interrupted) return "interrupted";
  if (end == conformance::PoolEnd::out_of_time) return "the time of the run, --max-run-time, was up";
  return "stopped at the first unexpected verdict";
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
  if (result.no_cases.contains(conformance::node_cases_as_code)) out += "; node cases of onnx were not run";
  if (result.not_run() > 0)
    out += fmt::format("; {} not run ({})", result.not_run(), why_not_run(result.end));
  if (result.unexpected() > 0) out += fmt::format("; {} not as expected", result.unexpected());
  if (!result.stale.empty())
    out += fmt::format("; {} expectation{} without a case", result.stale.size(),
                       result.stale.size() == 1 ? "" : "s");
  if (!result.unused_rules.empty())
    out += fmt::format("; {} of the policy unused", counted(result.unused_rules.size(), "rule"));
  if (result.flaky() > 0) out += fmt::format("; {} flaky", result.flaky());
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
  out += flaky_lines(result) + case_lines(result) + warning_lines(result) + other_lines(result);
  out += table("kind", tally.by_kind, tally.all);
  out += table("operator", troubled, in_trouble);
  if (!tally.by_operator.empty())
    out += fmt::format("\n{} operator{}; all cases of {} passed\n", tally.by_operator.size(),
                       tally.by_operator.size() == 1 ? "" : "s", tally.by_operator.size() - troubled.size());
  out += last_line(result, tally);
  return out;
}

}  // namespace grurun::report
