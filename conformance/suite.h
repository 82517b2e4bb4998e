// Runs many cases in worker processes and holds what became of them, in the order they were found.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/case.h"
#include "conformance/expectations.h"
#include "conformance/run_case.h"
#include "conformance/sandbox.h"
#include "conformance/shard.h"
#include "conformance/worker.h"

namespace grurun::conformance {

struct SuiteOptions {
  CaseOptions each;
  int workers = 1;
  int threads = 1;  // of all workers together: those that still have a case share them evenly
  std::size_t max_memory =
      0;                   // bytes that a case may take in tensors, strings and lists of values; 0: no limit
  int retries = 0;         // times that a case which did not end as expected is run again, at most
  bool fail_fast = false;  // stop at the first verdict that is not as expected
  bool keep_outputs = true;  // false: of cases with a good verdict only names, operators and warnings are
                             // kept once they are told
  std::optional<std::chrono::nanoseconds> max_run_time{};  // of all cases
  SandboxMode sandbox = SandboxMode::automatic;            // of the workers
  std::vector<std::string> folders{};                      // that cases were found in: what workers may read
  std::vector<std::string> links{};  // Discovery::links: they may read what these lead to
};

/// How a run of a case ended that was repeated.
struct Attempt {
  Verdict verdict = Verdict::passed;
  std::string message;
  double seconds = 0;
};

struct CaseOutcome {
  bool ran = false;  // false: the run was stopped before; result says nothing then
  CaseResult result;
  const Expectation* expectation =
      nullptr;  // the line that decides for it; points into SuiteResult::expectations
  bool unexpected = false;
  std::vector<Attempt> attempts{};  // that ended otherwise than expected, before the one that result is of

  /// It ended as expected, but not at once.
  bool is_flaky() const { return ran && !unexpected && !attempts.empty(); }
};

/// Whose values are compared, in words.
struct Sides {
  std::string actual = "grurun";
  std::string expected = "the files of the cases";

  bool operator==(const Sides&) const = default;
};

struct SuiteResult {
  std::vector<Case> cases;
  std::vector<CaseOutcome> outcomes;  // one for each case
  Expectations expectations;
  std::vector<const Expectation*> stale;  // lines of it that decide for no case that was found
  std::vector<std::string> unused_rules;  // of the policy: a line each
  std::set<std::string> used_rules;       // places of those that decided for outputs
  std::optional<std::vector<std::string>>
      unused_in_part;  // of a part that ran whole: a line for each rule that decided for nothing in it
  std::map<std::string, std::vector<std::string>> no_cases;  // see Discovery
  SuiteOptions options;
  std::optional<SuitePart> part;  // what these cases are a part of
  Sides sides;
  PoolEnd end = PoolEnd::done;
  double seconds = 0;
  std::string sandbox;  // what was in force (SandboxState::text); empty where nothing ran
  std::shared_ptr<const SuiteResult> former;  // the run that this one is compared to, and its report
  std::string former_file;

  std::size_t not_run() const;
  std::size_t unexpected() const;
  std::size_t flaky() const;
  /// Every case ran and ended as expected, no line of the expectations is stale and no rule of a policy
  /// unused.
  bool as_expected() const;
};

/// A listed case must end with the listed verdict, any other with a good one.
bool is_unexpected(Verdict verdict, const Expectation* listed);
/// The same, and one that differs keeps within its line's bounds.
bool is_unexpected(const CaseResult& result, const Expectation* listed);

/// Sets expectation and unexpected of each outcome, and stale, by result.expectations. all: every case that
/// was found, whether or not it was to run.
void judge_by_expectations(SuiteResult& result, const std::vector<Case>& all);

/// Called after each case with the number of cases done and the one that ended; may be empty.
using Progress = std::function<void(const SuiteResult& so_far, std::size_t done, std::size_t ended)>;

/// Runs those of result.cases that have no outcome that ran, and fills outcomes, end and seconds; cases,
/// expectations, stale and options are set by the caller. The process must have no other threads (see
/// run_pool).
void run_suite(SuiteResult& result, const Progress& progress);

}  // namespace grurun::conformance
