// What `grurun reduce` prints.
#pragma once

#include <optional>
#include <string>

#include "conformance/reduce/reduce.h"
#include "report/format.h"

namespace grurun::report {

struct ReduceReport {
  std::string model;                                // as it was named
  std::string folder;                               // of the case
  std::optional<conformance::Reduction> reduction;  // nullopt: nothing fails

  /// 0: there is a case; 1: nothing fails.
  int exit_status() const { return reduction ? 0 : 1; }
};

/// How it fails, then how large the case is, and where it lies.
std::string reduce_text(const ReduceReport& report);

/// {"model", "fails", "verdict", "message", "folder", "before": {"nodes", "bytes"}, "after", "nodes":
/// [{"name", "operator"}], "inputs", "outputs", "runs", "complete", "notes"}; of a model that does not fail
/// the first two.
std::string reduce_json(const ReduceReport& report);

template <>
std::span<const Format<ReduceReport>> formats();

}  // namespace grurun::report
