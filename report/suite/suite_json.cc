#include "report/suite/suite_json.h"

#include <algorithm>

#include "conformance/run_case.h"
#include "report/judgement_json.h"
#include "report/suite/read_suite.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const Counts& counts) {
  Json out = Json::object();
  for (int v = 0; v < conformance::verdict_count; ++v)
    out[conformance::verdict_name(static_cast<conformance::Verdict>(v))] = counts.by_verdict[v];
  return out;
}

Json output_json(const conformance::OutputResult& output) {
  Json out = {{"data_set", printable(output.data_set)}, {"name", printable(output.name)}};
  add_comparison(out, output.comparison, output.random);
  if (output.random) out["cause"] = printable(output.cause);
  return out;
}

Json warning_json(const conformance::Warning& warning) {
  Json out = {{"data_set", printable(warning.data_set)}};
  add_warning(out, warning.finding);
  return out;
}

Json expectation_json(const conformance::Expectation& line) {
  Json out = {{"line", line.line},
              {"pattern", printable(line.pattern)},
              {"verdict", conformance::verdict_name(line.verdict)},
              {"reason", printable(line.reason)}};
  if (!line.bounds.empty()) out["bounds"] = to_string(line.bounds);
  return out;
}

/// Of a case that was run again.
Json attempt_json(const conformance::Attempt& attempt) {
  return {{"verdict", conformance::verdict_name(attempt.verdict)},
          {"message", printable(attempt.message)},
          {"seconds", attempt.seconds}};
}

Json expectations_json(const conformance::SuiteResult& result) {
  Json out = {{"file", printable(result.expectations.file())}, {"lines", Json::array()}};
  for (const conformance::Expectation& line : result.expectations.lines()) {
    out["lines"].push_back(expectation_json(line));
    if (std::ranges::find(result.stale, &line) != result.stale.end()) out["lines"].back()["stale"] = true;
  }
  return out;
}

Json groups_json(const std::map<std::string, Counts>& groups) {
  Json out = Json::object();
  for (const auto& [name, counts] : groups) out[printable(name)] = counts_json(counts);
  return out;
}

}  // namespace

void add_setting(Json& out, const conformance::SuiteResult& result) {
  out["stale_expectations"] = Json::array();
  for (const conformance::Expectation* line : result.stale)
    out["stale_expectations"].push_back(printable(stale_note(result, *line)));
  out["no_cases"] = Json::object();
  for (const auto& [reason, names] : result.no_cases)
    for (const std::string& name : names) out["no_cases"][reason].push_back(printable(name));
  if (!result.expectations.file().empty()) out["expectations"] = expectations_json(result);
  out["actual"] = printable(result.sides.actual);
  out["expected"] = printable(result.sides.expected);
  if (result.part)
    out["part"] = {{"number", result.part->shard.number},
                   {"count", result.part->shard.count},
                   {"found", result.part->found},
                   {"suite", result.part->suite}};
}

void add_end(Json& out, const std::string& sandbox, conformance::PoolEnd end) {
  if (!sandbox.empty()) out["sandbox"] = sandbox;
  out["ended"] = ended_name(end);
}

Json case_json(const conformance::SuiteResult& suite, std::size_t index) {
  const conformance::Case& test = suite.cases[index];
  const conformance::CaseOutcome& outcome = suite.outcomes[index];
  const conformance::CaseResult& result = outcome.result;
  Json out = {{"name", printable(test.name)},     {"path", printable(test.path)},
              {"kind", printable(test.kind)},     {"verdict", conformance::verdict_name(result.verdict)},
              {"unexpected", outcome.unexpected}, {"message", printable(result.message)},
              {"seconds", result.seconds}};
  if (outcome.expectation != nullptr) {
    out["expectation"] = expectation_json(*outcome.expectation);
    out["note"] = printable(expectation_note(suite, outcome));
  }
  if (!outcome.attempts.empty()) {
    out["flaky"] = outcome.is_flaky();
    out["attempts"] = Json::array();
    for (const conformance::Attempt& attempt : outcome.attempts)
      out["attempts"].push_back(attempt_json(attempt));
  }
  out["opsets"] = Json::object();
  for (const conformance::OpsetImport& import : result.opsets)
    out["opsets"][printable(import.domain)] = import.version;
  out["operators"] = Json::array();
  for (const std::string& name : result.operators) out["operators"].push_back(printable(name));
  const std::vector<std::string> counted = counted_operators(test.name, result.verdict, result.operators);
  if (counted != result.operators) out["counted_for"] = counted;
  out["outputs"] = Json::array();
  for (const conformance::OutputResult& output : result.outputs)
    out["outputs"].push_back(output_json(output));
  if (const auto share = conformance::share_by_value(result.outputs))
    out["elements"] = {{"by_value", share->by_value}, {"all", share->all}};
  out["diagnosis"] = Json::array();
  for (const trial::Explanation& finding : result.findings) out["diagnosis"].push_back(reason_json(finding));
  out["warnings"] = Json::array();
  for (const conformance::Warning& warning : result.warnings)
    out["warnings"].push_back(warning_json(warning));
  if (result.left_out > 0) out["left_out"] = result.left_out;
  if (suite.part) out["place"] = test.place;
  return out;
}

Json cases_not_run_json(const conformance::SuiteResult& result) {
  Json out = Json::array();
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    if (result.outcomes[i].ran) continue;
    const conformance::Case& test = result.cases[i];
    out.push_back(
        {{"name", printable(test.name)}, {"path", printable(test.path)}, {"kind", printable(test.kind)}});
    if (result.part) out.back()["place"] = test.place;
  }
  return out;
}

SuiteTotals totals_of(const conformance::SuiteResult& result) {
  return {count(result),         result.cases.size(),  result.not_run(), result.unexpected(),
          with_warnings(result), result.as_expected(), result.seconds,   result.flaky(),
          result.unused_rules,   result.unused_in_part};
}

void add_totals(Json& out, const SuiteTotals& totals) {
  out["summary"] = counts_json(totals.tally.all);
  out["found"] = totals.found;
  out["not_run"] = totals.not_run;
  out["unexpected"] = totals.unexpected;
  out["flaky"] = totals.flaky;
  out["with_warnings"] = totals.with_warnings;
  out["as_expected"] = totals.as_expected;
  out["seconds"] = totals.seconds;
  out["by_kind"] = groups_json(totals.tally.by_kind);
  out["by_operator"] = groups_json(totals.tally.by_operator);
  const auto add_lines = [&out](const char* key, const std::vector<std::string>& lines) {
    out[key] = Json::array();
    for (const std::string& line : lines) out[key].push_back(printable(line));
  };
  add_lines("unused_rules", totals.unused_rules);
  if (totals.unused_in_part) add_lines("unused_in_part", *totals.unused_in_part);
}

}  // namespace grurun::report
