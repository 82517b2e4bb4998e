// One report of the parts of a suite that ran on several machines.
#pragma once

#include <string>
#include <vector>

#include "conformance/suite.h"

namespace grurun::report {

/// Which parts of a suite were seen; the first one says of which suite.
class SeenParts {
 public:
  /// Throws Error(usage) for what is no part, one of another suite, or one that was seen.
  void add(const std::string& file, const std::optional<conformance::SuitePart>& part);

  /// Throws Error(usage) that names the parts that are absent.
  void require_all() const;

  std::size_t found() const { return first_ ? first_->found : 0; }

 private:
  std::optional<conformance::SuitePart> first_;
  std::vector<std::string> files_;  // by part; empty: not seen
};

/// Rules of a policy that decided for nothing, whichever part one looks at.
class UnusedRules {
 public:
  /// What a part has as unused_rules and as unused_in_part.
  void add(const std::vector<std::string>& without_case, std::optional<std::vector<std::string>> in_part);

  /// Where a part cannot tell, because it did not run whole, those that are for no case.
  const std::vector<std::string>& lines() const { return all_tell_ ? in_no_part_ : without_case_; }

 private:
  bool is_first_ = true;
  bool all_tell_ = true;
  std::vector<std::string> without_case_, in_no_part_;
};

/// In which sandbox all parts ran, or that they did not run in one.
void add_sandbox(std::string& whole, const std::string& part, bool is_first);

/// The result of the whole, cases in their places: any report of it is that of one run, but for times, which
/// are those of all machines together. Throws Error(usage) where SeenParts does, and where the parts have
/// other expectations or compare other sides.
conformance::SuiteResult merge_suites(const std::vector<std::string>& files,
                                      std::vector<conformance::SuiteResult> parts);

}  // namespace grurun::report
