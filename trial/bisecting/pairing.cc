#include "trial/bisecting/pairing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "onnx_io/models/walk.h"
#include "tensor/dispatch.h"
#include "trial/compare.h"
#include "trial/intermediates.h"
#include "trial/precise.h"

namespace grurun::trial {
namespace {

using onnx_io::Graph;
using onnx_io::Node;

/// Of a graph, what pairing asks: who makes a value, and what it comes from.
class Sources {
 public:
  explicit Sources(const Graph& graph)
      : producers_(graph.nodes), initializers_(onnx_io::index_initializers(graph)) {
    for (const Node& node : graph.nodes) {
      const bool is_made_of_weights = std::ranges::all_of(
          node.inputs, [&](const std::string& each) { return each.empty() || is_weight(each); });
      // A body reads what is around it.
      if (is_made_of_weights && !onnx_io::has_body(node))
        weights_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  const Node* maker(const std::string& name) const { return producers_.node(name); }

  /// The constant's tensor; nullptr: it is none that the file holds.
  const Tensor* constant(const std::string& name) const {
    const Node* node = maker(name);
    if (node == nullptr) {
      const auto found = initializers_.find(name);
      return found == initializers_.end() ? nullptr : found->second;
    }
    const onnx_io::Attribute* value = is_constant(*node) ? node->find_attribute("value") : nullptr;
    return value == nullptr || value->tensors.empty() ? nullptr : &value->tensors[0];
  }

  /// Whether constants alone make it: a weight, or one that a DequantizeLinear makes.
  bool is_weight(const std::string& name) const {
    return weights_.contains(name) || (maker(name) == nullptr && initializers_.contains(name));
  }

  /// What the value is but for its type and what storing it costs.
  std::string source(std::string name) const {
    for (std::size_t steps = 0; steps <= producers_.size(); ++steps) {
      const Node* node = maker(name);
      const std::string* before = node == nullptr ? nullptr : seen_through(*node);
      if (before == nullptr) return name;
      name = *before;
    }
    return name;  // a circle
  }

 private:
  /// The value before a node that is seen through; nullptr: it is not.
  const std::string* seen_through(const Node& node) const {
    if (!node.domain.empty() && node.domain != "com.microsoft") return nullptr;
    if (node.inputs.empty()) return nullptr;
    const std::string& before = node.inputs[0];
    if (node.op_type == "Identity") return &before;
    if (node.op_type == "Cast") {
      const onnx_io::Attribute* to = node.find_attribute("to");
      return to != nullptr && Floats::set.contains(static_cast<DType>(to->i)) ? &before : nullptr;
    }
    if (node.op_type != "DequantizeLinear") return nullptr;
    const Node* quantizes = maker(before);
    return quantizes != nullptr && quantizes->op_type == "QuantizeLinear" && !quantizes->inputs.empty()
               ? &quantizes->inputs[0]
               : nullptr;
  }

  onnx_io::Producers producers_;
  onnx_io::InitializerIndex initializers_;
  std::unordered_set<std::string_view> weights_;  // that nodes make
};

bool is_alike(const onnx_io::Attribute& a, const onnx_io::Attribute& b) {
  return a.type == b.type && a.f == b.f && a.i == b.i && a.s == b.s && a.floats == b.floats &&
         a.ints == b.ints && a.strings == b.strings;
}

/// How much two nodes of one operator have in common beyond what they read: attributes, and the shapes and
/// elements of constants.
int likeness(const Node& a, const Sources& of_a, const Node& b, const Sources& of_b) {
  int alike = 0;
  for (const onnx_io::Attribute& attribute : a.attributes) {
    const onnx_io::Attribute* other = b.find_attribute(attribute.name);
    alike += other != nullptr && is_alike(attribute, *other) ? 2 : -2;
  }
  for (std::size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
    const Tensor *x = of_a.constant(a.inputs[i]), *y = of_b.constant(b.inputs[i]);
    if (x == nullptr || y == nullptr) continue;
    alike += x->shape() == y->shape() ? 4 : -4;
    if (x->shape() != y->shape()) continue;
    Tolerances tolerances;
    tolerances.flag = {0.01, 1e-6};
    const bool both_float = Floats::set.contains(x->dtype()) && Floats::set.contains(y->dtype());
    const Value left = both_float ? widened(Value(*x)) : Value(*x);
    const Value right = both_float ? widened(Value(*y)) : Value(*y);
    if (compare_values(left, right, tolerances).ok) alike += 2;
  }
  return alike + (a.name == b.name ? 1 : 0);
}

/// What a node is and reads: of_value gives what the key calls an input; nullopt: it has no name yet.
template <typename OfValue>
std::optional<std::string> key_of(const Node& node, const Sources& sources, const OfValue& of_value) {
  std::string key = node.domain + "." + node.op_type;
  bool reads = false;
  for (const std::string& input : node.inputs) {
    std::optional<std::string> part = "#";
    if (!input.empty() && !sources.is_weight(input)) {
      part = of_value(sources.source(input));
      reads = true;
    }
    if (!part) return std::nullopt;
    key += '\n' + *part;
  }
  return reads ? std::optional(key) : std::nullopt;
}

}  // namespace

Pairing::Pairing(const Graph& ours, const Graph& theirs) {
  pair_names(ours, theirs);
  const std::size_t named = partners_.size();
  bool more = true;
  while (more) {
    more = pair_forward(ours, theirs);
    more = pair_backward(ours, theirs) || more;
  }
  by_structure_ = partners_.size() - named;
  pair_seen_through(ours, theirs);
  // The name of the last of several nodes may be that of the one that took their place; or of the first.
  for (const Node& node : ours.nodes) {
    for (const std::string& name : node.outputs)
      if (!is_constant(node) && maker_of(theirs, name) != nullptr && add(name, name)) doubtful_.insert(name);
  }
}

bool Pairing::add(const std::string& ours, const std::string& theirs) {
  if (ours.empty() || theirs.empty() || partners_.contains(ours) || taken_.contains(theirs)) return false;
  partners_.emplace(ours, theirs);
  taken_.insert(theirs);
  return true;
}

void Pairing::pair_names(const Graph& ours, const Graph& theirs) {
  const onnx_io::Producers here(ours.nodes), there(theirs.nodes);
  std::unordered_set<std::string> inputs;
  for (const onnx_io::ValueInfo& input : theirs.inputs) inputs.insert(input.name);
  for (const onnx_io::ValueInfo& input : ours.inputs)
    if (inputs.contains(input.name)) add(input.name, input.name);
  for (std::size_t i = 0; i < ours.inputs.size() && ours.inputs.size() == theirs.inputs.size(); ++i)
    add(ours.inputs[i].name, theirs.inputs[i].name);
  for (const Node& node : ours.nodes) {
    for (const std::string& name : node.outputs) {
      const Node* other = name.empty() || is_constant(node) ? nullptr : there.node(name);
      if (other != nullptr && other->op_type == node.op_type) add(name, name);
    }
  }
}

bool Pairing::pair_forward(const Graph& ours, const Graph& theirs) {
  const Sources here(ours), there(theirs);
  std::unordered_map<std::string, std::vector<const Node*>> by_key;
  for (const Node& node : theirs.nodes) {
    if (node.outputs.empty() || taken_.contains(node.outputs[0])) continue;
    if (const auto key = key_of(node, there, [](const std::string& name) { return std::optional(name); }))
      by_key[*key].push_back(&node);
  }
  bool paired = false;
  const auto partner_of = [&](const std::string& name) {
    const std::string* found = partner(name);
    return found == nullptr ? std::nullopt : std::optional(there.source(*found));
  };
  for (const Node& node : ours.nodes) {
    if (node.outputs.empty() || partners_.contains(node.outputs[0])) continue;
    const auto key = key_of(node, here, partner_of);
    const auto found = key ? by_key.find(*key) : by_key.end();
    if (found == by_key.end()) continue;
    const Node* best = nullptr;
    int most = 0;
    for (const Node* candidate : found->second) {
      if (taken_.contains(candidate->outputs[0])) continue;
      const int alike = found->second.size() == 1 ? 0 : likeness(node, here, *candidate, there);
      if (best == nullptr || alike > most) best = candidate, most = alike;
    }
    for (std::size_t i = 0; best != nullptr && i < std::min(node.outputs.size(), best->outputs.size()); ++i)
      paired = add(node.outputs[i], best->outputs[i]) || paired;
  }
  return paired;
}

bool Pairing::pair_backward(const Graph& ours, const Graph& theirs) {
  const Sources here(ours), there(theirs);
  bool paired = false;
  if (ours.outputs.size() == theirs.outputs.size()) {
    for (std::size_t i = 0; i < ours.outputs.size(); ++i)
      paired = add(ours.outputs[i].name, theirs.outputs[i].name) || paired;
  }
  for (auto node = ours.nodes.rbegin(); node != ours.nodes.rend(); ++node) {
    for (const std::string& output : node->outputs) {
      const std::string* other = partner(output);
      if (other == nullptr) continue;
      const Node *made = here.maker(here.source(output)), *made_there = there.maker(there.source(*other));
      if (made == nullptr || made_there == nullptr || made->op_type != made_there->op_type) continue;
      for (std::size_t i = 0; i < std::min(made->outputs.size(), made_there->outputs.size()); ++i)
        paired = add(made->outputs[i], made_there->outputs[i]) || paired;
      for (std::size_t i = 0; i < std::min(made->inputs.size(), made_there->inputs.size()); ++i) {
        const std::string a = here.source(made->inputs[i]), b = there.source(made_there->inputs[i]);
        if (here.maker(a) != nullptr && there.maker(b) != nullptr && !here.is_weight(a) &&
            !there.is_weight(b))
          paired = add(a, b) || paired;
      }
    }
  }
  return paired;
}

void Pairing::pair_seen_through(const Graph& ours, const Graph& theirs) {
  const Sources here(ours);
  for (const Node& node : ours.nodes) {
    for (const std::string& name : node.outputs) {
      if (name.empty() || partners_.contains(name) || here.is_weight(name)) continue;
      const std::string before = here.source(name);
      // A Relu before QuantizeLinear is left to it, and the node before gets the name.
      if (before != name && maker_of(theirs, before) != nullptr && add(name, before)) continue;
      if (const auto found = partners_.find(before); before != name && found != partners_.end())
        partners_.emplace(name, std::string(found->second));
    }
  }
}

const std::string* Pairing::partner(const std::string& ours) const {
  const auto found = partners_.find(ours);
  return found == partners_.end() ? nullptr : &found->second;
}

namespace {

/// Fewer elements agree by chance.
constexpr std::int64_t fewest_elements = 16;

double norm_of(const Tensor& tensor) {
  double sum = 0;
  for (const double each : doubles_of(tensor)) sum += each * each;
  return std::sqrt(sum);
}

}  // namespace

void Pairing::note_theirs(const std::string& name, const Value& value) {
  if (!value.is_tensor() || !Floats::set.contains(value.tensor().dtype()) || taken_.contains(name) ||
      value.tensor().size() < fewest_elements)
    return;
  numbers_.push_back({name, value.tensor().shape(), norm_of(value.tensor())});
}

const std::string* Pairing::pair_by_numbers(const std::string& name, const Value& ours,
                                            const ValueStore& theirs) {
  if (!ours.is_tensor() || !Floats::set.contains(ours.tensor().dtype())) return nullptr;
  constexpr double least_cosine = 0.99, norms_apart = 0.1;
  if (numbers_.empty() || ours.tensor().size() < fewest_elements) return nullptr;
  const double norm = norm_of(ours.tensor());
  const Numbers* best = nullptr;
  double highest = least_cosine;
  for (const Numbers& each : numbers_) {
    if (each.shape != ours.tensor().shape() || taken_.contains(each.name) ||
        !(std::fabs(each.norm - norm) <= norms_apart * norm))
      continue;
    const double cosine =
        compare_values(widened(ours), widened(theirs.read(each.name)), {}).energies.cosine();
    if (cosine >= highest) best = &each, highest = cosine;
  }
  if (best == nullptr || !add(name, best->name)) return nullptr;
  ++by_numbers_;
  return partner(name);
}

}  // namespace grurun::trial
