#include "report/suite/read_suite.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "report/judgement_json.h"
#include "report/suite/json_lines.h"
#include "tensor/error.h"

namespace grurun::report {

namespace {

using nlohmann::json;
using namespace grurun::conformance;

constexpr std::array<std::pair<PoolEnd, const char*>, 4> ends = {{{PoolEnd::done, "done"},
                                                                  {PoolEnd::stopped, "stopped"},
                                                                  {PoolEnd::interrupted, "interrupted"},
                                                                  {PoolEnd::out_of_time, "out-of-time"}}};

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
  std::istringstream bounds(line.value("bounds", ""));
  for (std::string word; bounds >> word;) add_bound(word, "bounds", out.bounds);
  out.line = static_cast<int>(whole_of(line.at("line")));
  return out;
}

Case case_named(const json& test) {
  Case out;
  out.name = test.at("name");
  out.kind = test.at("kind");
  out.path = test.at("path");
  if (test.contains("place")) out.place = static_cast<std::size_t>(whole_of(test.at("place")));
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
  if (test.contains("left_out")) out.left_out = static_cast<std::uint64_t>(whole_of(test.at("left_out")));
  for (const json& output : test.at("outputs")) {
    OutputResult& read = out.outputs.emplace_back();
    read.data_set = output.at("data_set");
    read.name = output.at("name");
    read.comparison = comparison_of(output, read.random);
    read.cause = output.value("cause", "");
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
  if (report.contains("sandbox")) result.sandbox = report.at("sandbox");
  result.no_cases = report.at("no_cases");
  result.part = part_of(report);
  for (const json& line : report.at("unused_rules")) result.unused_rules.push_back(line);
  result.unused_in_part = unused_in_part_of(report);
  read_expectations(report, result);
  for (const json& test : report.at("cases")) {
    result.cases.push_back(case_named(test));
    CaseOutcome& outcome = result.outcomes.emplace_back();
    outcome.ran = true;
    outcome.result = case_result(test);
    outcome.unexpected = test.at("unexpected");
    if (test.contains("attempts"))
      for (const json& attempt : test.at("attempts"))
        outcome.attempts.push_back(
            {verdict_named(attempt.at("verdict")), attempt.at("message"), attempt.at("seconds")});
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

PoolEnd parse_ended(const std::string& name) {
  for (const auto& [end, its_name] : ends)
    if (name == its_name) return end;
  fail_usage("'{}' is no end of a run", name);
}

std::optional<SuitePart> part_of(const json& report) {
  if (!report.contains("part")) return std::nullopt;
  const json& part = report.at("part");
  const auto size = [&](const char* name) { return static_cast<std::size_t>(whole_of(part.at(name))); };
  SuitePart out{{size("number"), size("count")}, size("found"), part.at("suite").get<std::string>()};
  if (out.shard.number < 1 || out.shard.number > out.shard.count) fail_usage("its part is none");
  return out;
}

std::optional<std::vector<std::string>> unused_in_part_of(const json& report) {
  if (!report.contains("unused_in_part")) return std::nullopt;
  return report.at("unused_in_part").get<std::vector<std::string>>();
}

namespace {

SuiteResult parse_any(const std::string& text, const std::string& file, Unfinished unfinished) {
  constexpr const char* needed = "give what grurun conformance --json wrote";
  try {
    if (!is_json_lines(text)) return suite_of(json::parse(text));
    std::istringstream lines(text);
    return suite_of(joined_json_lines(lines, unfinished == Unfinished::allowed));
  } catch (const Error& error) {
    fail_usage("{}: no report that can be read: {}; {}", file, error.message(), needed);
  } catch (const json::exception& error) {
    fail_usage("{}: no report that can be read: {}; {}", file, error.what(), needed);
  }
}

}  // namespace

SuiteResult parse_suite(std::string_view text, const std::string& file) {
  return parse_any(std::string(text), file, Unfinished::refused);
}

SuiteResult read_suite(const std::string& file, Unfinished unfinished) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in.is_open() || !(text << in.rdbuf())) fail_usage("{}: the report cannot be read", file);
  return parse_any(text.str(), file, unfinished);
}

}  // namespace grurun::report
