// The part of a graph that a Gradient node (ai.onnx.preview.training) differentiates.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"

namespace grurun::engine {

class PlanBuilder;
struct Scope;
struct GradientPath;

/// A node of the path with the opset version that it is read under; calls of model-local functions are
/// resolved into their nodes, with names of their own, and references to attributes into values.
struct PathNode {
  onnx_io::Node node;
  std::int64_t opset_version;
  std::shared_ptr<const GradientPath> gradient;  // what a Gradient node on the path differentiates, else null
};

/// y as a function of xs and zs: the nodes between them, in order. outside are the names that the nodes read
/// and that depend on none of xs and zs.
struct GradientPath {
  std::vector<std::string> xs, zs;
  std::string y;
  std::vector<PathNode> nodes;
  std::vector<std::string> outside;
};

/// The attributes xs, zs and y of a Gradient node.
struct GradientNames {
  std::vector<std::string> xs, zs;
  std::string y;
};

/// Finds the path of the Gradient node self, which stands in scope; depth counts the Gradients whose paths it
/// is on. Throws Error(invalid_model) where xs, zs or y name no tensor of the graph, or one of xs and zs is
/// computed from another; Error(unsupported) where a node on the path has body graphs.
GradientPath find_gradient_path(PlanBuilder& builder, Scope& scope, const onnx_io::Node& self,
                                const GradientNames& names, int depth = 0);

/// What the PrepareContext of every node is besides, for Gradient's operator.
class GradientScope {
 public:
  virtual ~GradientScope() = default;

  virtual GradientPath gradient_path(const GradientNames& names) = 0;
  /// A body without inputs or nodes that returns the values of these names of the scope.
  virtual std::shared_ptr<const Plan> values_of(const std::vector<std::string>& names) = 0;
};

}  // namespace grurun::engine
