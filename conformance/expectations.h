// The list of cases that are expected not to pass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/bounds.h"
#include "conformance/case.h"

namespace grurun::conformance {

struct Expectation {
  std::string pattern;
  Verdict verdict = Verdict::differs;
  Bounds bounds;  // of a case that differs
  std::string reason;
  int line = 0;
};

/// One exception a line, `PATTERN VERDICT [BOUND...] REASON...`, separated by blanks; empty lines and what
/// follows a # at the start of a line are ignored. PATTERN is a shell pattern (* ? [...]), see
/// matches_pattern; VERDICT is one that does not count as passing; behind differs there may be bounds. The
/// first line that matches a case decides.
class Expectations {
 public:
  Expectations() = default;

  /// Throws Error(usage) naming file and line of what breaks the format.
  static Expectations parse(std::string_view text, const std::string& file);
  /// The same of a file, which may be missing or larger than `largest` bytes, too.
  static Expectations load(const std::string& file);
  static constexpr std::uint64_t largest = std::uint64_t{16} << 20;

  /// Of the lines of a list that was read before.
  Expectations(std::string file, std::vector<Expectation> lines);

  const std::string& file() const { return file_; }
  const std::vector<Expectation>& lines() const { return lines_; }

  /// The line that decides for this case; nullptr: it must pass.
  const Expectation* find(const Case& test) const;

  /// Lines that decide for none of the cases, because their pattern matches none or an earlier line took all
  /// of them.
  std::vector<const Expectation*> without_case(const std::vector<Case>& cases) const;

 private:
  std::string file_;
  std::vector<Expectation> lines_;
};

/// True when the case's name or kind/name matches a shell pattern (* also matches a slash). A pattern with
/// two slashes or more is one for the last folders of Case::path, or for all of it when it starts with a
/// slash.
bool matches_pattern(const Case& test, const std::string& pattern);

/// -k: a shell pattern when it holds any of * ? [ and part of kind/name otherwise, or of the path when it
/// holds two slashes or more.
bool matches_filter(const Case& test, const std::string& filter);

}  // namespace grurun::conformance
