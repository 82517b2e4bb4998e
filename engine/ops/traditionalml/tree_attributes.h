// The attributes that TreeEnsembleClassifier and TreeEnsembleRegressor (1, 3, 5) describe trees with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/ops/traditionalml/forest.h"

namespace grurun::engine {

class PrepareContext;

/// A list of numbers that is given as floats or, since version 3, as a tensor of double.
struct RealList {
  std::vector<double> values;
  bool in_double = false;
};

/// `name` or `name`_as_tensor. Throws Error(invalid_model) when both are given or the tensor is no list of
/// double.
RealList read_reals(PrepareContext& node, const std::string& name);

/// nodes_* and <prefix>_ids, _treeids, _nodeids, _weights, prefix being class or target, as a forest with
/// this many targets. A tree's root is the first of its nodes in the lists that is no child of another.
///
/// Throws Error(invalid_model) for lists of different lengths, a node listed twice, a child or a vote's node
/// that is not listed, a cycle, a vote at a node that is no leaf, a vote for a target out of range.
Forest read_forest(PrepareContext& node, const std::string& prefix, std::size_t targets);

}  // namespace grurun::engine
