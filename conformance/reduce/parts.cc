#include "conformance/reduce/parts.h"

#include <map>
#include <numeric>

#include "onnx_io/models/walk.h"
#include "trial/intermediates.h"

namespace grurun::conformance {

namespace {

/// Sets of nodes that are joined.
class Groups {
 public:
  explicit Groups(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parents_[of(b)] = of(a); }

 private:
  std::vector<std::size_t> parents_;
};

}  // namespace

std::vector<std::vector<std::size_t>> units_of(const onnx_io::Model& model, const trial::KnownValues& fed,
                                               const trial::KnownValues& known, bool joined) {
  const std::vector<onnx_io::Node>& nodes = model.graph.nodes;
  const onnx_io::Producers producers(nodes);
  Groups groups(nodes.size());
  for (std::size_t i = 0; joined && i < nodes.size(); ++i) {
    for (const onnx_io::Read& read : onnx_io::reads_of(nodes[i])) {
      const std::string name(read.name);
      const auto* const maker = producers.find(name);
      const bool is_known = known.contains(name) || fed.contains(name);
      if (maker != nullptr && !is_known && !trial::is_constant(*maker->node)) groups.join(maker->index, i);
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> members;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (trial::is_constant(nodes[i])) continue;
    std::vector<std::size_t>& group = members[groups.of(i)];
    if (group.empty()) order.push_back(groups.of(i));
    group.push_back(i);
  }
  std::vector<std::vector<std::size_t>> units;
  for (const std::size_t group : order) units.push_back(std::move(members[group]));
  return units;
}

}  // namespace grurun::conformance
