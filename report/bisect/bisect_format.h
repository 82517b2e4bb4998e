// What `grurun bisect` prints.
#pragma once

#include <optional>
#include <string>

#include "trial/bisecting/bisect.h"
#include "trial/bisecting/oddities.h"

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

/// The same of a bisection by itself.
std::string bisection_text(const trial::Bisection& bisection);

/// A page that needs nothing but a browser: the same, and the error of each value along the graph.
std::string bisect_html(const BisectReport& report);

/// The same as a heading and a table.
std::string bisect_markdown(const BisectReport& report);

/// {"model", "reference", "compared", "absent", "differences": [{"node", "value", "partner", what
/// add_comparison writes, "alone": what add_comparison writes | "not_alone", "with": labels of nodes,
/// "made_here", "details": {"attributes", "inputs", "origin", "diagnosis": [{"kind", "hypotheses",
/// "text"}]}}], "by_structure", "by_numbers", "ranking": as "differences", where it was asked for}, or
/// {"model", "find", "found": {"node", "value", "type", "count", "index", "element", "inputs": [{"name",
/// "type", "range", "at_place"}]} | null}.
std::string bisect_json(const BisectReport& report);

}  // namespace grurun::report
