#include "report/suite/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "onnx_io/models/model.h"
#include "opset/schema/registry.h"
#include "report/findings/check_format.h"

namespace grurun::report {

std::size_t Counts::total() const {
  return std::accumulate(by_verdict.begin(), by_verdict.end(), std::size_t{0});
}

std::size_t Counts::not_good() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < by_verdict.size(); ++i)
    if (!conformance::is_good(static_cast<conformance::Verdict>(i))) sum += by_verdict[i];
  return sum;
}

namespace {

/// "test_layer_normalization_2d" and "LayerNormalization" without what the two write differently.
std::string bare(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The operator whose name is the longest that a case's name begins with; empty: none.
std::string operator_of(const std::string& name) {
  constexpr std::string_view prefix = "test_";
  const std::string_view rest =
      name.starts_with(prefix) ? std::string_view(name).substr(prefix.size()) : std::string_view(name);
  const std::string words = bare(rest);
  const opset::SchemaInfo* found = nullptr;
  for (const opset::SchemaInfo* schema : opset::all_schemas())
    if ((found == nullptr || schema->name.size() > found->name.size()) &&
        words.starts_with(bare(schema->name)))
      found = schema;
  return found == nullptr ? std::string() : onnx_io::qualified_name(found->domain, found->name);
}

}  // namespace

std::vector<std::string> counted_operators(const std::string& name, conformance::Verdict verdict,
                                           const std::vector<std::string>& operators) {
  if (conformance::is_good(verdict) || name.find("_expanded") == name.npos) return operators;
  const std::string its = operator_of(name);
  return its.empty() ? operators : std::vector<std::string>{its};
}

void count_case(Tally& tally, conformance::Verdict verdict, const std::string& kind,
                const std::vector<std::string>& operators) {
  const auto index = static_cast<std::size_t>(verdict);
  ++tally.all.by_verdict[index];
  ++tally.by_kind[kind].by_verdict[index];
  for (const std::string& name : operators) ++tally.by_operator[name].by_verdict[index];
}

Tally count(const conformance::SuiteResult& result) {
  Tally tally;
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    const conformance::CaseOutcome& outcome = result.outcomes[i];
    if (outcome.ran)
      count_case(tally, outcome.result.verdict, result.cases[i].kind,
                 counted_operators(result.cases[i].name, outcome.result.verdict, outcome.result.operators));
  }
  return tally;
}

std::size_t with_warnings(const conformance::SuiteResult& result) {
  return static_cast<std::size_t>(std::ranges::count_if(
      result.outcomes,
      [](const conformance::CaseOutcome& outcome) { return !outcome.result.warnings.empty(); }));
}

std::string describe(const conformance::Warning& warning) {
  return fmt::format("{}{}{}", warning.data_set, warning.data_set.empty() ? "" : ", ",
                     finding_text(warning.finding));
}

std::vector<std::string> reasons_of(const conformance::CaseResult& result) {
  std::vector<std::pair<std::string, std::vector<std::string>>> sets;  // by reason, in their order
  for (const trial::Explanation& finding : result.findings) {
    const std::string text = describe(finding);
    auto known = std::ranges::find(sets, text, [](const auto& each) { return each.first; });
    if (known == sets.end()) known = sets.insert(known, {text, {}});
    known->second.push_back(finding.data_set);
  }
  std::vector<std::string> out;
  for (const auto& [text, names] : sets) {
    std::string where = names.front();
    if (names.size() > 1) where += fmt::format(" and {} more", names.size() - 1);
    out.push_back(where.empty() ? text : where + ", " + text);
  }
  return out;
}

std::string expectation_note(const conformance::SuiteResult& result,
                             const conformance::CaseOutcome& outcome) {
  const conformance::Expectation* line = outcome.expectation;
  if (line == nullptr || !outcome.ran) return {};
  const std::string place = fmt::format("{}:{}", result.expectations.file(), line->line);
  const conformance::Bounds& bounds = line->bounds;
  if (!outcome.unexpected) {
    const std::string better = far_within(bounds, outcome.result);
    return fmt::format("expected by {}: {}{}", place, line->reason,
                       better.empty() ? "" : fmt::format("; better by far: {}; tighten that line", better));
  }
  if (outcome.result.verdict == line->verdict)
    return fmt::format("worse than {} allows: {}", place, beyond(bounds, outcome.result));
  if (conformance::is_good(outcome.result.verdict))
    return fmt::format("{} expects {}, but it {}; remove that line", place,
                       conformance::verdict_name(line->verdict),
                       conformance::verdict_name(outcome.result.verdict));
  return fmt::format("{} expects {}", place, conformance::verdict_name(line->verdict));
}

std::string attempts_note(const conformance::CaseOutcome& outcome) {
  if (outcome.attempts.empty()) return {};
  std::string out = fmt::format("{} at run {}", conformance::verdict_name(outcome.result.verdict),
                                outcome.attempts.size() + 1);
  for (std::size_t i = 0; i < outcome.attempts.size(); ++i) {
    const conformance::Attempt& attempt = outcome.attempts[i];
    out += fmt::format("; run {}: {}{}{}", i + 1, conformance::verdict_name(attempt.verdict),
                       attempt.message.empty() ? "" : ": ", attempt.message);
  }
  return out;
}

std::string stale_note(const conformance::SuiteResult& result, const conformance::Expectation& line) {
  for (const conformance::Case& test : result.cases)
    if (matches_pattern(test, line.pattern))
      return fmt::format("{}:{}: every case that '{}' matches is decided by an earlier line",
                         result.expectations.file(), line.line, line.pattern);
  return fmt::format("{}:{}: '{}' matches no case", result.expectations.file(), line.line, line.pattern);
}

std::vector<std::string> name_endings(const std::vector<conformance::Case>& cases) {
  std::unordered_map<std::string, std::size_t> holders;
  for (const conformance::Case& test : cases) ++holders[test.full_name()];
  std::vector<std::string> endings;
  for (const conformance::Case& test : cases)
    endings.push_back(holders[test.full_name()] > 1 ? " (" + test.path + ")" : "");
  return endings;
}

}  // namespace grurun::report
