// The report for people: each case that did not pass with its reason, then counts.
#pragma once

#include <cstdio>
#include <string>

#include "conformance/suite.h"

namespace grurun::report {

/// One line for each case that did not pass (and each that should not have; the path is there where cases
/// share kind and name), for what was no case and for
/// stale expectations; a table by kind; a table of the operators in cases that did not pass; a last line with
/// all counts.
std::string console_report(const conformance::SuiteResult& result);

/// A bar that is redrawn in place on a terminal; nothing on anything else.
class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* stream);
  void draw(const conformance::SuiteResult& so_far, std::size_t done);
  void clear();

 private:
  std::FILE* stream_;
  bool is_terminal_;
  double last_drawn_ = 0;
};

}  // namespace grurun::report
