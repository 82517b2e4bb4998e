// The parts of a suite's JSON reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/suite.h"
#include "report/suite/tally.h"

namespace grurun::report {

/// What stands once in a report and is known before the first case runs: expectations, what is no case, whose
/// values are compared, of what the cases are a part.
void add_setting(nlohmann::ordered_json& out, const conformance::SuiteResult& result);

/// What is known of a run when it is over: in which sandbox the workers stood, where there was one, and how
/// it ended.
void add_end(nlohmann::ordered_json& out, const std::string& sandbox, conformance::PoolEnd end);

/// A case that ran. Its place in the whole stands last, where it is a part.
nlohmann::ordered_json case_json(const conformance::SuiteResult& result, std::size_t index);

/// The cases that did not run.
nlohmann::ordered_json cases_not_run_json(const conformance::SuiteResult& result);

/// What a report sums up of a suite.
struct SuiteTotals {
  Tally tally;
  std::size_t found = 0;
  std::size_t not_run = 0;
  std::size_t unexpected = 0;
  std::size_t with_warnings = 0;
  bool as_expected = true;
  double seconds = 0;
  std::size_t flaky = 0;
  std::vector<std::string> unused_rules;                     // of a policy: a line each
  std::optional<std::vector<std::string>> unused_in_part{};  // as SuiteResult has it
};

SuiteTotals totals_of(const conformance::SuiteResult& result);

void add_totals(nlohmann::ordered_json& out, const SuiteTotals& totals);

}  // namespace grurun::report
