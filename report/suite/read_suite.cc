#include "report/suite/read_suite.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "report/judgement_json.h"
#include "tensor/error.h"

namespace grurun::report {

namespace {

using nlohmann::json;
using namespace grurun::conformance;

constexpr std::array<std::pair<PoolEnd, const char*>, 3> ends = {
    {{PoolEnd::done, "done"}, {PoolEnd::stopped, "stopped"}, {PoolEnd::interrupted, "interrupted"}}};

PoolEnd parse_ended(const std::string& name) {
  for (const auto& [end, its_name] : ends)
    if (name == its_name) return end;
  fail_usage("'{}' is no end of a run", name);
}

Verdict verdict_named(const json& name) {
  const auto verdict = parse_verdict(name.get<std::string>());
  if (!verdict) fail_usage("'{}' is no verdict", name.get<std::string>());
  return *verdict;
}

Expectation expectation_of(const json& line) {
  Expectation out;
  out.pattern = line.at("pattern");
  out.verdict = verdict_named(line.at("verdict"));
  out.reason = line.at("reason");
  out.line = static_cast<int>(whole_of(line.at("line")));
  return out;
}

Case case_named(const json& test) {
  Case out;
  out.name = test.at("name");
  out.kind = test.at("kind");
  out.path = test.at("path");
  return out;
}

CaseResult case_result(const json& test) {
  CaseResult out;
  out.verdict = verdict_named(test.at("verdict"));
  out.message = test.at("message");
  out.seconds = test.at("seconds");
  if (test.contains("opsets"))
    for (const auto& [domain, version] : test.at("opsets").items())
      out.opsets.push_back({domain, whole_of(version)});
  out.operators = test.at("operators");
  for (const json& output : test.at("outputs")) {
    OutputResult& read = out.outputs.emplace_back();
    read.data_set = output.at("data_set");
    read.name = output.at("name");
    read.comparison = comparison_of(output, read.random);
  }
  for (const json& reason : test.at("diagnosis")) out.findings.push_back(reason_of(reason));
  for (const json& warning : test.at("warnings"))
    out.warnings.push_back({warning.at("data_set"), warning_of(warning)});
  return out;
}

void read_expectations(const json& report, SuiteResult& result) {
  if (!report.contains("expectations")) return;
  const json& listed = report.at("expectations");
  std::vector<Expectation> lines;
  for (const json& line : listed.at("lines")) lines.push_back(expectation_of(line));
  result.expectations = Expectations(listed.at("file"), std::move(lines));
  for (std::size_t i = 0; i < result.expectations.lines().size(); ++i)
    if (listed.at("lines")[i].value("stale", false)) result.stale.push_back(&result.expectations.lines()[i]);
}

const Expectation* line_of(const SuiteResult& result, const json& expectation) {
  const std::int64_t number = whole_of(expectation.at("line"));
  const std::vector<Expectation>& lines = result.expectations.lines();
  const auto found =
      std::ranges::find_if(lines, [&](const Expectation& line) { return line.line == number; });
  if (found == lines.end())
    fail_usage("a case names line {} of the expectations, which is not there", number);
  return &*found;
}

SuiteResult suite_of(const json& report) {
  if (report.at("format") != 1) fail_usage("its format {} is not known here", report.at("format").dump());
  SuiteResult result;
  result.seconds = report.at("seconds");
  result.end = parse_ended(report.at("ended"));
  result.sides = {report.at("actual"), report.at("expected")};
  result.no_cases = report.at("no_cases");
  read_expectations(report, result);
  for (const json& test : report.at("cases")) {
    result.cases.push_back(case_named(test));
    CaseOutcome& outcome = result.outcomes.emplace_back();
    outcome.ran = true;
    outcome.result = case_result(test);
    outcome.unexpected = test.at("unexpected");
    if (test.contains("expectation")) outcome.expectation = line_of(result, test.at("expectation"));
  }
  for (const json& test : report.at("cases_not_run")) {
    result.cases.push_back(case_named(test));
    result.outcomes.emplace_back();
  }
  return result;
}

}  // namespace

const char* ended_name(PoolEnd end) {
  return std::ranges::find(ends, end, &std::pair<PoolEnd, const char*>::first)->second;
}

SuiteResult parse_suite(std::string_view text, const std::string& file) {
  constexpr const char* needed = "give what grurun conformance --json wrote";
  try {
    return suite_of(json::parse(text));
  } catch (const Error& error) {
    fail_usage("{}: no report that can be read: {}; {}", file, error.message(), needed);
  } catch (const json::exception& error) {
    fail_usage("{}: no report that can be read: {}; {}", file, error.what(), needed);
  }
}

SuiteResult read_suite(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in.is_open() || !(text << in.rdbuf())) fail_usage("{}: the report cannot be read", file);
  return parse_suite(text.str(), file);
}

}  // namespace grurun::report
