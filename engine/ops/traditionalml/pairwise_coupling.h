// Class probabilities from the probabilities of pairs of classes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace grurun::engine {

/// r [k, k] holds in r[i, j] the probability of class i given that it is i or j, with r[j, i] = 1 - r[i, j].
/// The result p minimises sum_i sum_{j != i} (r[j, i] p[i] - r[i, j] p[j])^2 under sum p = 1, as near as the
/// iteration of Wu, Lin and Weng (Probability Estimates for Multi-class Classification by Pairwise Coupling,
/// 2004, algorithm 2) comes by its stopping rule, which is how libsvm computes what SVMClassifier describes.
std::vector<double> couple_pairwise(std::span<const double> r, std::size_t k);

}  // namespace grurun::engine
