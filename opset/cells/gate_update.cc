#include "opset/cells/gate_update.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace grurun::opset {

namespace {

using onnx_io::Node;
using Names = std::vector<std::string>;  // factors, sorted
using Terms = std::map<Names, double>;   // by factors; none: a constant

constexpr int most_levels = 4;  // of operators; (1 - z) . n + z . H has three

// PyTorch's lerp chooses between two ways to write the same.
const Node* choice_of_two(const TermReader& read, const std::string& name) {
  const Node* node = read.op(name, "Where");
  return node != nullptr && node->inputs.size() == 3 ? node : nullptr;
}

// Of a node with two, and of a Where without its condition.
std::pair<const std::string&, const std::string&> operands(const Node& node) {
  const std::size_t first = node.inputs.size() - 2;
  return {node.inputs[first], node.inputs[first + 1]};
}

class Expansion {
 public:
  explicit Expansion(const TermReader& read) : read_(read) {}

  /// Values that may be the state: those below which are not activated. A first step's may be a constant.
  Names states(const std::string& name) const {
    Names found;
    gather(name, most_levels, found);
    return found;
  }

  Terms expand(const std::string& name, const std::string& state, int levels = most_levels) const {
    const std::string& value = read_.graph().plain(name);
    if (value == state) return {{{value}, 1}};
    if (const auto number = read_.graph().uniform(value)) return {{{}, *number}};
    const Node* node = levels == 0 ? nullptr : arithmetic(value);
    if (node == nullptr) return {{{value}, 1}};
    if (node->op_type == "Neg") return product({{{}, -1}}, expand(node->inputs[0], state, levels - 1));
    const auto [a, b] = operands(*node);
    const Terms left = expand(a, state, levels - 1), right = expand(b, state, levels - 1);
    if (node->op_type == "Where") return left == right ? left : Terms{{{value}, 1}};
    if (node->op_type == "Mul") return product(left, right);
    Terms sum = left;
    for (const auto& [names, factor] : right) sum[names] += node->op_type == "Sub" ? -factor : factor;
    std::erase_if(sum, [](const auto& term) { return term.second == 0; });
    return sum;
  }

 private:
  const Node* arithmetic(const std::string& value) const {
    if (read_.activated(value)) return nullptr;
    for (const char* op_type : {"Add", "Sub", "Mul"}) {
      if (const Node* node = read_.binary(value, op_type)) return node;
    }
    if (const Node* node = read_.op(value, "Neg")) return node;
    return choice_of_two(read_, value);
  }

  void gather(const std::string& name, int levels, Names& found) const {
    const std::string& value = read_.graph().plain(name);
    if (levels < most_levels && !read_.activated(value) && std::ranges::find(found, value) == found.end())
      found.push_back(value);
    const Node* node = levels == 0 ? nullptr : arithmetic(value);
    if (node == nullptr) return;
    for (const std::string& input : node->inputs) gather(input, levels - 1, found);
  }

  static Terms product(const Terms& left, const Terms& right) {
    Terms terms;
    for (const auto& [some, a] : left) {
      for (const auto& [others, b] : right) {
        Names all = some;
        all.insert(all.end(), others.begin(), others.end());
        std::ranges::sort(all);
        terms[all] += a * b;
      }
    }
    return terms;
  }

  const TermReader& read_;
};

bool has(const Terms& terms, Names names, double factor) {
  std::ranges::sort(names);
  const auto found = terms.find(names);
  return found != terms.end() && found->second == factor;
}

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

std::optional<GateUpdate> match_update(const TermReader& read, const std::string& name) {
  if (read.binary(name, "Add") == nullptr && read.binary(name, "Sub") == nullptr &&
      choice_of_two(read, name) == nullptr)
    return std::nullopt;
  const Expansion expansion(read);
  for (const std::string& state : expansion.states(name)) {
    const Terms terms = expansion.expand(name, state);
    if (terms.size() != 3) continue;
    Names activated;
    for (const auto& [names, factor] : terms) {
      for (const std::string& value : names) {
        if (value != state && read.activated(value) && std::ranges::find(activated, value) == activated.end())
          activated.push_back(value);
      }
    }
    if (activated.size() != 2) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string& z = activated[i];
      const std::string& n = activated[1 - i];
      if (has(terms, {n}, 1) && has(terms, {z, n}, -1) && has(terms, {z, state}, 1))
        return GateUpdate{z, n, state, false};
      if (has(terms, {state}, 1) && has(terms, {z, state}, -1) && has(terms, {z, n}, 1))
        return GateUpdate{z, n, state, true};
    }
  }
  return std::nullopt;
}

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
