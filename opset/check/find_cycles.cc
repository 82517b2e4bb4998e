#include "opset/check/find_cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "onnx_io/models/walk.h"
#include "opset/findings/labels.h"

namespace grurun::opset {

namespace {

using onnx_io::Graph;
using onnx_io::Node;

constexpr std::size_t unseen = std::numeric_limits<std::size_t>::max();

// edges[i]: the nodes whose outputs node i uses.
std::vector<std::vector<std::size_t>> dependencies(const std::vector<Node>& nodes) {
  const onnx_io::Producers producers(nodes);
  std::vector<std::vector<std::size_t>> edges(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const onnx_io::Read& read : onnx_io::reads_of(nodes[i])) {
      if (const auto* made = producers.find(read.name)) edges[i].push_back(made->index);
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

std::vector<std::vector<std::size_t>> find_cycles(const std::vector<Node>& nodes) {
  const std::vector<std::vector<std::size_t>> edges = dependencies(nodes);
  return Components(edges).cycles;
}

std::string cycle_sentence(const std::vector<Node>& nodes, const std::vector<std::size_t>& cycle) {
  constexpr std::size_t shown = 6;
  std::string names;
  for (std::size_t i = 0; i < cycle.size() && i < shown; ++i) {
    const Node& node = nodes[cycle[i]];
    names += fmt::format("{}'{}'", i == 0 ? "" : ", ", node_name(node.name, node.op_type, cycle[i]));
  }
  if (cycle.size() > shown) names += fmt::format(" and {} more", cycle.size() - shown);
  return fmt::format("nodes {} depend on each other's outputs; break the cycle", names);
}

}  // namespace grurun::opset
