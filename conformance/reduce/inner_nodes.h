// Nodes in bodies and functions that stay: what of them can be left out where they stand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/reduce/truth.h"

namespace grurun::conformance {

/// A node in a body or a function, by the first value that it makes, and the values that may stand for that.
struct InnerNode {
  std::string output;
  std::vector<std::string> inputs;
};

/// Those of bodies to any depth and of functions, the last of each graph first. Constant nodes are none.
std::vector<InnerNode> inner_nodes_of(const onnx_io::Model& model);

/// The candidate without the node, whose readers get `instead`, one of its inputs; an Identity makes what a
/// body returns. What nothing reads any more is left out, too. nullopt: there is no such node, or the other
/// model, where there is one, has none of that name and operator.
std::optional<Candidate> without_inner_node(const Candidate& candidate, const std::string& output,
                                            const std::string& instead);

}  // namespace grurun::conformance
