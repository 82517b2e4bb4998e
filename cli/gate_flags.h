// What makes a gate of a conformance run: policies, pinned expectations, repeated runs, a run before to
// compare with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/app.h"
#include "conformance/suite.h"
#include "report/suite/suite_diff.h"

namespace grurun::cli {

/// --fail-on: changes that fail.
struct FailOnFlags {
  std::string kinds;

  bool is_given() const { return !kinds.empty(); }
};

void add_fail_on_flag(CLI::App& command, FailOnFlags& flags);

/// Throws Error(usage) for a kind of change that there is not.
std::vector<report::ChangeKind> parse_fail_on(const FailOnFlags& flags);
bool fails(const std::vector<report::ChangeKind>& kinds, const report::SuiteDiff& diff);

struct GateFlags {
  std::string policy;
  std::string values;
  std::uint64_t retries = 0;
  std::string update_expectations;
  std::string compare_to;
  FailOnFlags fail_on;
};

void add_gate_flags(CLI::App& command, GateFlags& flags);

/// Throws Error(usage) for flags that do not go together.
void check(const GateFlags& flags, const std::string& expectations, bool fail_fast);

/// Policy, values and retries.
void apply(const GateFlags& flags, conformance::SuiteOptions& options);

/// Rules of the policy that nothing was judged by. all: every case found; is_selection: flags as -k left some
/// out, so that a rule may be for them.
void note_unused_rules(conformance::SuiteResult& result, const std::vector<conformance::Case>& all,
                       bool is_selection);

/// After a run: writes the list of --update-expectations where it changes, tells what changed, and judges the
/// result by it.
void update_list(const GateFlags& flags, conformance::SuiteResult& result,
                 const std::vector<conformance::Case>& all);

}  // namespace grurun::cli
