#include "opset/check/find_cycles.h"

#include <algorithm>
#include <limits>

namespace grurun::opset {

namespace {

using onnx_io::Graph;
using onnx_io::Node;

constexpr std::size_t unseen = std::numeric_limits<std::size_t>::max();

void collect_uses(const Node& node, std::vector<std::string_view>& names) {
  names.insert(names.end(), node.inputs.begin(), node.inputs.end());
  for (const onnx_io::Attribute& attribute : node.attributes) {
    for (const auto& graph : attribute.graphs) {
      for (const Node& inner : graph->nodes) collect_uses(inner, names);
    }
  }
}

// edges[i]: the nodes whose outputs node i uses.
std::vector<std::vector<std::size_t>> dependencies(const std::vector<Node>& nodes) {
  const std::unordered_map<std::string_view, std::size_t> made_by = producers(nodes);
  std::vector<std::vector<std::size_t>> edges(nodes.size());
  std::vector<std::string_view> uses;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    uses.clear();
    collect_uses(nodes[i], uses);
    for (const std::string_view name : uses) {
      const auto producer = made_by.find(name);
      if (producer != made_by.end()) edges[i].push_back(producer->second);
    }
  }
  return edges;
}

// Tarjan's strongly connected components, with a stack of its own: a chain of 100,000 nodes must not
// overflow the program's.
class Components {
 public:
  explicit Components(const std::vector<std::vector<std::size_t>>& edges)
      : edges_(edges), order_(edges.size(), unseen), low_(edges.size(), 0), open_(edges.size(), false) {
    for (std::size_t node = 0; node < edges.size(); ++node) {
      if (order_[node] == unseen) visit(node);
    }
  }

  std::vector<std::vector<std::size_t>> cycles;

 private:
  struct Frame {
    std::size_t node;
    std::size_t next_edge;
  };

  void visit(std::size_t root) {
    std::vector<Frame> frames;
    enter(root, frames);
    while (!frames.empty()) {
      const std::size_t node = frames.back().node;
      if (frames.back().next_edge < edges_[node].size()) {
        const std::size_t target = edges_[node][frames.back().next_edge++];
        if (order_[target] == unseen) {
          enter(target, frames);
        } else if (open_[target]) {
          low_[node] = std::min(low_[node], order_[target]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low_[frames.back().node] = std::min(low_[frames.back().node], low_[node]);
      if (low_[node] == order_[node]) close(node);
    }
  }

  void enter(std::size_t node, std::vector<Frame>& frames) {
    order_[node] = low_[node] = counter_++;
    open_[node] = true;
    members_.push_back(node);
    frames.push_back({node, 0});
  }

  void close(std::size_t root) {
    std::vector<std::size_t> component;
    std::size_t node = unseen;
    while (node != root) {
      node = members_.back();
      members_.pop_back();
      open_[node] = false;
      component.push_back(node);
    }
    const auto& edges = edges_[root];
    const bool self_loop = std::find(edges.begin(), edges.end(), root) != edges.end();
    if (component.size() == 1 && !self_loop) return;
    std::sort(component.begin(), component.end());
    cycles.push_back(std::move(component));
  }

  const std::vector<std::vector<std::size_t>>& edges_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> low_;
  std::vector<bool> open_;
  std::vector<std::size_t> members_;
  std::size_t counter_ = 0;
};

}  // namespace

std::unordered_map<std::string_view, std::size_t> producers(const std::vector<Node>& nodes) {
  std::unordered_map<std::string_view, std::size_t> made_by;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].outputs) {
      if (!output.empty()) made_by.try_emplace(output, i);
    }
  }
  return made_by;
}

std::vector<std::vector<std::size_t>> find_cycles(const std::vector<Node>& nodes) {
  const std::vector<std::vector<std::size_t>> edges = dependencies(nodes);
  return Components(edges).cycles;
}

}  // namespace grurun::opset
