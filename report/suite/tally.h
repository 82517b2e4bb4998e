// How many cases ended how, in all, by kind and by operator.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "conformance/case.h"
#include "conformance/suite.h"

namespace grurun::report {

/// Cases by verdict; index with static_cast<std::size_t>(Verdict).
struct Counts {
  std::array<std::size_t, conformance::verdict_count> by_verdict{};

  std::size_t operator[](conformance::Verdict verdict) const {
    return by_verdict[static_cast<std::size_t>(verdict)];
  }
  std::size_t total() const;
  std::size_t not_good() const;
};

struct Tally {
  Counts all;
  std::map<std::string, Counts> by_kind;
  std::map<std::string, Counts> by_operator;  // see counted_operators
};

/// What a case counts for in tables of operators: each operator that its model holds. ONNX's cases
/// NAME_expanded hold the body of the operator that NAME begins with; where such a case does not pass, it
/// counts for that operator alone. `operators` are those of the model.
std::vector<std::string> counted_operators(const std::string& name, conformance::Verdict verdict,
                                           const std::vector<std::string>& operators);

/// operators: counted_operators.
void count_case(Tally& tally, conformance::Verdict verdict, const std::string& kind,
                const std::vector<std::string>& operators);

Tally count(const conformance::SuiteResult& result);

/// Cases that ran and have warnings.
std::size_t with_warnings(const conformance::SuiteResult& result);

/// "test_data_set_0, SHAPE004: ...": the line that reports print.
std::string describe(const conformance::Warning& warning);

/// Why nodes differ, each reason once, behind the data sets that show it: "test_data_set_0 and 2 more, GRU
/// ...".
std::vector<std::string> reasons_of(const conformance::CaseResult& result);

/// What the expectations have to say on a case, in words; empty when nothing.
std::string expectation_note(const conformance::SuiteResult& result, const conformance::CaseOutcome& outcome);

/// How a case that was run again ended each time; empty where it was not.
std::string attempts_note(const conformance::CaseOutcome& outcome);

/// One line for each line of the expectations that decides for no case.
std::string stale_note(const conformance::SuiteResult& result, const conformance::Expectation& line);

/// For each case what must stand after its name to tell it from others of the same kind and name: " (PATH)",
/// or nothing where there are none.
std::vector<std::string> name_endings(const std::vector<conformance::Case>& cases);

}  // namespace grurun::report
