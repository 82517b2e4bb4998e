// Numbers that a model lost, found from what they did to the outputs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "trial/diagnosis/expected.h"

namespace grurun::trial::diagnosis {

/// The residuals of some parameters; always as many.
using Residuals = std::function<std::vector<double>(const std::vector<double>& parameters)>;

/// Levenberg and Marquardt's method with differences for derivatives: parameters from which no step leads to
/// a smaller sum of squares, or nullopt when the budget ends first or a residual is not finite at the start.
std::optional<std::vector<double>> least_squares(std::vector<double> start, const Residuals& residuals,
                                                 const Budget& budget);

/// The same for units that do not act on each other, all at once: parameter k of unit u is at k*units + u,
/// residual i is of unit i % units and depends on that unit's parameters only.
std::optional<std::vector<double>> least_squares_by_unit(std::vector<double> start, std::size_t units,
                                                         const Residuals& residuals, const Budget& budget);

}  // namespace grurun::trial::diagnosis
