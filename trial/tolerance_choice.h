#pragma once

#include <optional>

namespace grurun::trial {

/// What one source (a flag, a data.json, a rule) says; what it leaves open comes from the next source.
struct ToleranceChoice {
  std::optional<double> rtol;
  std::optional<double> atol;
};

}  // namespace grurun::trial
