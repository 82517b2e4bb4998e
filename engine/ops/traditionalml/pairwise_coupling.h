// Class probabilities from the probabilities of pairs of classes.
#pragma once

#include <cstddef>

#include "tensor/memory/scratch.h"

namespace grurun::engine {

/// Rows whose probabilities are computed together.
inline constexpr std::size_t coupled_rows = 8;

/// For each of coupled_rows rows: r [k, k, coupled_rows] holds in r[i, j] the probability of class i given
/// that it is i or j, with r[j, i] = 1 - r[i, j]. The result p [k, coupled_rows] minimises
/// sum_i sum_{j != i} (r[j, i] p[i] - r[i, j] p[j])^2 under sum p = 1, as near as the iteration of Wu, Lin
/// and Weng (Probability Estimates for Multi-class Classification by Pairwise Coupling, 2004, algorithm 2)
/// comes by its stopping rule, which is how libsvm computes what SVMClassifier describes. A row's result does
/// not depend on the others.
void couple_pairwise(const ScratchVector<double>& r, std::size_t k, ScratchVector<double>& p);

}  // namespace grurun::engine
