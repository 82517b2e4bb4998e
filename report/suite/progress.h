// What is shown on a terminal while a suite runs.
#pragma once

#include <cstdio>
#include <string>

#include "conformance/suite.h"

namespace grurun::report {

/// "[###   ] 12/40, 1 unexpected, 3.2/s, 9 s left", as much of it as fits `columns`: the bar goes first, then
/// the rate and the time left. Never longer than columns - 1, behind which a terminal may begin a new line.
std::string progress_line(std::size_t done, std::size_t all, std::size_t unexpected, double seconds,
                          int columns);

/// A line that is redrawn in place, and above it each case that ends otherwise than expected, as it happens.
/// On anything but a terminal, and where the variable CI is set, nothing is shown.
class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* stream);
  void draw(const conformance::SuiteResult& so_far, std::size_t done, std::size_t ended);
  void clear();

 private:
  std::FILE* stream_;
  bool is_shown_;
  double began_;
  double last_drawn_ = 0;
};

/// Whether what goes to the stream may have colours: not where NO_COLOR is set; where CLICOLOR_FORCE is set
/// and not 0; else on a terminal that is not dumb.
bool wants_colour(std::FILE* stream);

/// A console report with its verdicts in colour.
std::string coloured(const std::string& text);

}  // namespace grurun::report
