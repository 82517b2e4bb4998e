// What `grurun bisect` prints.
#pragma once

#include <optional>
#include <string>

#include "trial/bisect.h"

namespace grurun::report {

struct BisectReport {
  std::string model;                          // as it was named
  std::optional<trial::Bisection> bisection;  // of --against
  std::optional<std::string> sought;          // of --find: "nan", ...
  std::optional<trial::FoundOddity> found;    // nullopt: no node makes one

  /// 1: a value differs, or was found; 0: none.
  int exit_status() const;
};

/// One line that says which node is the first wrong one, then a line for each value that was looked at.
std::string bisect_text(const BisectReport& report);

/// The same as a heading and a table.
std::string bisect_markdown(const BisectReport& report);

/// {"model", "reference", "compared", "absent", "differences": [{"node", "value", what add_comparison writes,
/// "alone": what add_comparison writes | "not_alone", "made_here"}]}, or {"model", "find", "found": {"node",
/// "value", "type", "count", "index", "element", "inputs": [{"name", "type", "range", "at_place"}]} | null}.
std::string bisect_json(const BisectReport& report);

}  // namespace grurun::report
