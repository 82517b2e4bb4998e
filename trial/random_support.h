// Which values a random operator may make at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial/random_outputs.h"

namespace grurun::trial {

using Doubles = std::vector<double>;

/// nullopt for types that no random operator makes (strings, complex, 4-bit), and for an undefined tensor.
std::optional<Doubles> as_doubles(const Tensor& tensor);

double float_attribute(const onnx_io::Node& node, const char* name, double fallback);

/// How far rounding to the element type may move a value of magnitude 1.
double rounding(DType dtype);

/// Probabilities of Multinomial's classes, row by row; none where they are not known before the run or do not
/// go with this many samples.
std::vector<Doubles> class_probabilities(const RandomOrigin& origin, std::size_t samples);

/// Dropout's ratio, from 0 to less than 1; nullopt where it is not known before the run, and another.
std::optional<double> dropout_ratio(const RandomOrigin& origin);

/// What keeps the values from being an output of the random operator origin.node; empty when nothing does.
/// Held against it are the operator's parameters as far as they are known before a run.
std::string check_support(const RandomOrigin& origin, const Doubles& values, DType dtype);

}  // namespace grurun::trial
