// What `grurun MODEL` reports.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opset/findings/finding.h"
#include "report/print_value.h"
#include "tensor/error.h"
#include "trial/bisecting/bisect.h"
#include "trial/diagnosis/explanation.h"
#include "trial/trial.h"

namespace grurun::report {

struct RunReport {
  std::string model;                                          // as it was named
  std::vector<std::string> outputs;                           // names, by graph output
  bool compares = false;                                      // something is expected of the outputs
  std::optional<PrintOptions> shows_values = PrintOptions{};  // nullopt: names, types and shapes only
  trial::Outcome outcome;                                     // empty where the run failed
  std::vector<trial::Explanation> reasons;
  std::vector<std::pair<std::string, Value>> between;  // values that are to be printed as outputs are
  std::optional<trial::Bisection> bisection;           // where values between the nodes are expected
  std::vector<opset::Finding> warnings;
  std::optional<Error> error;  // what ended the run, or what came after it

  /// "passed" and "differs", "ran" where nothing is expected; "invalid", "unsupported", "timed-out" (any
  /// limit) and "crashed" (an internal error) where an error says so.
  const char* verdict() const;
  /// An output, or a value between the nodes, is not what is expected.
  bool differs() const;
  int exit_status() const;
};

/// Each output's name and type, its values, how it compares, and why it differs. Empty where the run failed.
std::string run_text(const RunReport& run);

/// docs/usage.md documents every key; they are stable.
std::string run_json(const RunReport& run);

}  // namespace grurun::report
