// Which of the cases that were found a user wants to run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case.h"
#include "conformance/worker.h"

namespace grurun::conformance {

/// A case must satisfy every kind of condition, and of the ones of a kind any.
struct Selection {
  std::vector<std::string> filters;    // as matches_filter takes them
  std::vector<std::string> kinds;      // shell patterns for Case::kind
  std::vector<std::string> operators;  // that the model holds: "GRU", "ai.onnx.ml.Scaler" or "Scaler"
  std::optional<std::int64_t> since;   // least and greatest opset of ai.onnx that the model imports
  std::optional<std::int64_t> until;

  /// "-k gru, --op GRU": the flags that say so.
  std::string flags() const;
};

/// Leaves the cases that are selected. What the model decides is read off it in worker processes, so that one
/// that crashes its reader is no end of the run. A model that cannot be read stays, since nobody knows what
/// it holds. Throws Error(usage) for an operator that neither a case nor the standard has, and for since >
/// until.
void select(std::vector<Case>& cases, const Selection& selection, const PoolOptions& options);

}  // namespace grurun::conformance
