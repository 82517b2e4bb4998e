// Annotations as GitHub Actions read them off what a step prints.
#pragma once

#include <cstddef>
#include <string>

namespace grurun::report {

/// Collects annotations. GitHub shows ten of each kind for a step: no more are printed.
class GithubCommands {
 public:
  /// kind: "error", "warning" or "notice". Line ends and the like are escaped.
  void add(const std::string& kind, const std::string& path, const std::string& title,
           const std::string& text);

  /// Those that are printed, and a line that says how many `nouns` there are besides and where they are told.
  std::string finish(const std::string& nouns, const std::string& where) const;

 private:
  std::string text_;
  std::size_t errors_ = 0, warnings_ = 0, notices_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace grurun::report
