// How exact outputs must be, rule by rule, each with its reason: the file of --policy.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case.h"
#include "tensor/dtype.h"
#include "trial/accuracy_rule.h"

namespace grurun::conformance {

/// Names that a rule lists; a list without any says nothing.
struct PolicyRule {
  std::vector<std::string> cases;      // patterns, as those of expectations
  std::vector<std::string> operators;  // one of them is in the model
  std::vector<std::string> types;      // element types: "float16"
  std::vector<std::string> outputs;    // shell patterns for the output's name
  trial::AccuracyRule accuracy;
};

/// A TOML file of [[rule]] tables, each with any of case, operator, type and output (a string or a list),
/// what AccuracyRule has (rtol, atol, max_ulp, ulp_floor, differing, cosine, snr), and a reason. The first
/// rule that matches an output decides for it.
class Policy {
 public:
  /// Throws Error(usage) naming file and line of what is no TOML, of a rule without a reason or that asks
  /// nothing, and of keys and values that there are not.
  static Policy parse(std::string_view text, const std::string& file);
  /// The same of a file, which may be missing or larger than `largest` bytes, too.
  static std::shared_ptr<const Policy> load(const std::string& file);
  static constexpr std::uint64_t largest = std::uint64_t{16} << 20;

  const std::string& file() const { return file_; }
  /// What the file holds.
  const std::string& text() const { return text_; }
  const std::vector<PolicyRule>& rules() const { return rules_; }

  /// The rule for an output of a case whose model holds these operators, for tensors of this type; nullptr:
  /// none.
  const trial::AccuracyRule* find(const Case& test, const std::vector<std::string>& operators,
                                  const std::string& output, DType type) const;

 private:
  std::string file_, text_;
  std::vector<PolicyRule> rules_;
};

/// Adds the places of the rules that decided for outputs of the result.
void add_used_rules(const CaseResult& result, std::set<std::string>& places);

/// A line for each rule whose place is not among those used; of a run of some cases only, for each whose
/// patterns match none of all cases.
std::vector<std::string> unused_rules(const Policy& policy, const std::set<std::string>& used);
std::vector<std::string> rules_without_case(const Policy& policy, const std::vector<Case>& cases);

}  // namespace grurun::conformance
