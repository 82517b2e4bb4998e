// Checks values that come out of a random generator: not which they are, but what they may be.
#pragma once

#include <string>
#include <vector>

#include "trial/random_outputs.h"

namespace grurun::trial {

/// Empty when actual, of the same type and shape as expected, could be a sample of what origin says;
/// otherwise one line that says what it breaks.
/// The support, which check_support tells, and the share that a Dropout keeps are those of both; the others
/// are for actual alone.
/// - RandomUniform, RandomUniformLike: every value within [low, high]; mean and variance.
/// - RandomNormal, RandomNormalLike: finite; mean and variance.
/// - Bernoulli: 0 or 1; where the probabilities are known, 0 for 0, 1 for 1, and their sum.
/// - Multinomial: class numbers; where the input is known, within [0, class_size), none of probability 0, and
/// each class as often as its probability makes likely.
/// - Dropout: every element 0 or the input's times 1 / (1 - ratio), as many zeros as ratio makes likely; its
/// mask likewise.
/// - Anything computed from those, and where ratio or probabilities are not known: finite where the expected
/// sample is; only 0 and 1 when that sample holds nothing else;
///   mean no further from the sample's than two samples lie apart.
/// Moments may be six standard errors off: one wrong verdict in some 500 million.
std::string check_distribution(const RandomOrigin& origin, const Tensor& actual, const Tensor& expected);

}  // namespace grurun::trial
