// What `grurun generate` and `grurun node` print.
#pragma once

#include <string>

#include "report/format.h"
#include "trial/generate.h"

namespace grurun::report {

struct GenerateReport {
  std::string model;   // as it was named, or "GRU-14"
  std::string folder;  // of the case
  trial::Generated generated;

  /// 1: a size that was asked for is frozen; 0: none.
  int exit_status() const { return generated.frozen.empty() ? 0 : 1; }
};

/// A line for each data set, one for each size that is frozen, and a last one.
std::string generate_text(const GenerateReport& report);

/// {"model", "folder", "data_sets": [{"name", "seed", "sizes": {NAME: N}, "inputs"}], "frozen":
/// [{"dimension", "size", "node", "constant", "message"}]}.
std::string generate_json(const GenerateReport& report);

template <>
std::span<const Format<GenerateReport>> formats();

}  // namespace grurun::report
