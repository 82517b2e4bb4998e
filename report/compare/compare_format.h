// What `grurun compare` reports.
#pragma once

#include <string>
#include <vector>

#include "trial/compare_files.h"

namespace grurun::report {

struct ComparedFiles {
  std::string actual, expected;  // as they were named
  std::vector<trial::ComparedFile> values;

  bool ok() const;
};

/// What is wrong with a value, in a line; empty where both sides agree.
std::string problem_of(const trial::ComparedFile& value);

/// Which side is which, a line for each value that is not as expected, and a last line of counts.
std::string compare_text(const ComparedFiles& compared);

/// docs/usage.md documents every key; they are stable.
std::string compare_json(const ComparedFiles& compared);

/// The reports of a suite whose cases are the values.
std::string compare_junit(const ComparedFiles& compared);
std::string compare_markdown(const ComparedFiles& compared);
std::string compare_html(const ComparedFiles& compared);
std::string compare_github(const ComparedFiles& compared);

}  // namespace grurun::report
