#include "opset/cells/mask_pattern.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;

const Node* made_of_two(const GraphView& graph, const std::string& name, const char* op_type) {
  const Node* node = graph.made_by(graph.plain(name), op_type);
  return node != nullptr && node->inputs.size() == 2 ? node : nullptr;
}

// Not b, or 1 - b.
bool is_not(const GraphView& graph, const std::string& a, const std::string& b) {
  const std::string& mask = graph.plain(b);
  const Node* node = graph.made_by(graph.plain(a), "Not");
  if (node != nullptr && node->inputs.size() == 1) return graph.plain(node->inputs[0]) == mask;
  const Node* rest = made_of_two(graph, a, "Sub");
  return rest != nullptr && graph.uniform(rest->inputs[0]) == 1 && graph.plain(rest->inputs[1]) == mask &&
         graph.is_boolean(mask);
}

}  // namespace

std::vector<MaskChoice> match_mask(const GraphView& graph, const std::string& name) {
  std::vector<MaskChoice> found;
  const auto choose = [&](const std::string& a, const std::string& b) {
    found.push_back({graph.plain(a), graph.plain(b)});
    found.push_back({graph.plain(b), graph.plain(a)});
  };
  const Node* where = graph.made_by(name, "Where");
  if (where != nullptr && where->inputs.size() == 3) choose(where->inputs[1], where->inputs[2]);
  const Node* add = made_of_two(graph, name, "Add");
  const Node* left = add == nullptr ? nullptr : made_of_two(graph, add->inputs[0], "Mul");
  const Node* right = add == nullptr ? nullptr : made_of_two(graph, add->inputs[1], "Mul");
  if (left == nullptr || right == nullptr) return found;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const std::string &m = left->inputs[i], &n = right->inputs[j];
      if (is_not(graph, m, n) || is_not(graph, n, m)) choose(left->inputs[1 - i], right->inputs[1 - j]);
    }
  }
  return found;
}

}  // namespace grurun::opset
