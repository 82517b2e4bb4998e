#include "trial/pairing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "onnx_io/models/walk.h"
#include "tensor/dispatch.h"
#include "trial/as_type.h"
#include "trial/compare.h"
#include "trial/graph_sources.h"
#include "trial/intermediates.h"
#include "trial/precise.h"
#include "trial/quantized.h"

namespace grurun::trial {

/// The bodies of two nodes: what the names of their values begin with, and whether an iteration follows.
struct Pairing::Bodies {
  std::string ours, theirs;
  bool has_steps;
  Pairing inside;
};

namespace {

using onnx_io::Graph;
using onnx_io::Node;

/// What the quantizer of ONNX Runtime adds to the name of a value.
constexpr std::string_view quantized_suffix = "_quantized";

bool is_alike(const onnx_io::Attribute& a, const onnx_io::Attribute& b) {
  return a.type == b.type && a.f == b.f && a.i == b.i && a.s == b.s && a.floats == b.floats &&
         a.ints == b.ints && a.strings == b.strings;
}

/// How much two nodes of one operator have in common beyond what they read: attributes, and the shapes and
/// elements of constants.
int likeness(const Node& a, const GraphSources& of_a, const Node& b, const GraphSources& of_b) {
  int alike = 0;
  for (const onnx_io::Attribute& attribute : a.attributes) {
    const onnx_io::Attribute* other = b.find_attribute(attribute.name);
    alike += other != nullptr && is_alike(attribute, *other) ? 2 : -2;
  }
  const std::vector<std::string> data_a = float_form(a).data, data_b = float_form(b).data;
  for (std::size_t i = 0; i < std::min(data_a.size(), data_b.size()); ++i) {
    const Tensor *x = of_a.constant(data_a[i]), *y = of_b.constant(data_b[i]);
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
std::optional<std::string> key_of(const Node& node, const GraphSources& sources, const OfValue& of_value) {
  const FloatForm form = float_form(node);
  std::string key = fmt::format("{}.{}", form.domain, form.op_type);
  bool reads = false;
  for (const std::string& input : form.data) {
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

/// The node of the graph itself that makes it.
const Node* own_maker(const GraphSources& sources, const std::string& name) {
  return sources.owns(name) ? sources.maker(name) : nullptr;
}

bool is_one_operator(const Node& a, const Node& b) {
  const FloatForm x = float_form(a), y = float_form(b);
  return x.op_type == y.op_type && x.domain == y.domain;
}

/// Of the value that quantized nodes have: what a Relu or Clip behind it makes of it there, where the
/// quantized one has none behind, since its zero point and range do the same.
std::string behind_absorbed(const GraphSources& quantized, const std::string& name,
                            const GraphSources& floats, const std::string& partner) {
  const std::vector<const Node*> readers = floats.readers(partner);
  if (readers.size() != 1 || readers[0]->outputs.empty()) return partner;
  const Node& behind = *readers[0];
  if (!behind.domain.empty() || (behind.op_type != "Relu" && behind.op_type != "Clip")) return partner;
  const bool has_own =
      std::ranges::any_of(quantized.readers(quantized.source(name)),
                          [&](const Node* reader) { return reader->op_type == behind.op_type; });
  return has_own ? partner : behind.outputs[0];
}

}  // namespace

Pairing::Pairing(const Graph& ours, const Graph& theirs) {
  pair_all(GraphSources(ours), GraphSources(theirs));
}

Pairing::Pairing(const GraphSources& ours, const GraphSources& theirs, const Pairing& outer)
    : outer_(&outer) {
  pair_all(ours, theirs);
  outer_ = nullptr;
}

Pairing::~Pairing() = default;
Pairing::Pairing(Pairing&& other) noexcept = default;
Pairing& Pairing::operator=(Pairing&& other) noexcept = default;

void Pairing::pair_all(const GraphSources& ours, const GraphSources& theirs) {
  pair_inputs(ours, theirs);
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
  for (const Node& node : ours.graph().nodes) {
    for (const std::string& name : node.outputs)
      if (!is_constant(node) && own_maker(theirs, name) != nullptr && add(name, name)) doubtful_.insert(name);
  }
  pair_bodies(ours, theirs);
}

bool Pairing::add(const std::string& ours, const std::string& theirs) {
  if (ours.empty() || theirs.empty() || partners_.contains(ours) || taken_.contains(theirs)) return false;
  partners_.emplace(ours, theirs);
  taken_.insert(theirs);
  return true;
}

const std::string* Pairing::known_partner(const std::string& ours) const {
  const auto found = partners_.find(ours);
  if (found != partners_.end()) return &found->second;
  return outer_ == nullptr ? nullptr : outer_->known_partner(ours);
}

void Pairing::pair_inputs(const GraphSources& ours, const GraphSources& theirs) {
  const std::vector<onnx_io::ValueInfo>&here = ours.graph().inputs, &there = theirs.graph().inputs;
  const bool is_body = ours.outer() != nullptr;  // whose inputs have places, not names
  if (!is_body) {
    for (const onnx_io::ValueInfo& input : there) {
      const onnx_io::ValueInfo* const same = partner_of_input(ours.graph(), theirs.graph(), input);
      if (same != nullptr) add(same->name, input.name);
    }
    return;
  }
  for (std::size_t i = 0; i < here.size() && here.size() == there.size(); ++i)
    add(here[i].name, there[i].name);
}

void Pairing::pair_names(const GraphSources& ours, const GraphSources& theirs) {
  const auto pair_as = [&](const std::string& name, const std::string& other, bool alike) {
    const Node *const maker = own_maker(ours, name), *const made = own_maker(theirs, other);
    if (maker == nullptr || made == nullptr || is_constant(*maker)) return;
    if (alike && !is_one_operator(*maker, *made)) return;
    add(name, other);
  };
  for (const Node& node : ours.graph().nodes) {
    const bool is_quantized = float_form(node).is_quantized;
    for (const std::string& name : node.outputs) {
      if (name.empty()) continue;
      pair_as(name, name, true);
      if (is_quantized && name.ends_with(quantized_suffix)) {
        const std::string plain = name.substr(0, name.size() - quantized_suffix.size());
        pair_as(name, behind_absorbed(ours, name, theirs, plain), false);
      }
      const std::string there = name + std::string(quantized_suffix);
      if (const Node* const maker = theirs.maker(there); maker != nullptr && float_form(*maker).is_quantized)
        pair_as(behind_absorbed(theirs, there, ours, name), there, false);
    }
  }
}

bool Pairing::pair_forward(const GraphSources& ours, const GraphSources& theirs) {
  std::unordered_map<std::string, std::vector<const Node*>> by_key;
  for (const Node& node : theirs.graph().nodes) {
    if (node.outputs.empty() || taken_.contains(node.outputs[0])) continue;
    if (const auto key = key_of(node, theirs, [](const std::string& name) { return std::optional(name); }))
      by_key[*key].push_back(&node);
  }
  bool paired = false;
  const auto partner_of = [&](const std::string& name) {
    const std::string* found = known_partner(name);
    return found == nullptr ? std::nullopt : std::optional(theirs.source(*found));
  };
  for (const Node& node : ours.graph().nodes) {
    if (node.outputs.empty() || partners_.contains(node.outputs[0])) continue;
    const auto key = key_of(node, ours, partner_of);
    const auto found = key ? by_key.find(*key) : by_key.end();
    if (found == by_key.end()) continue;
    const Node* best = nullptr;
    int most = 0;
    for (const Node* candidate : found->second) {
      if (taken_.contains(candidate->outputs[0])) continue;
      const int alike = found->second.size() == 1 ? 0 : likeness(node, ours, *candidate, theirs);
      if (best == nullptr || alike > most) best = candidate, most = alike;
    }
    if (best == nullptr) continue;
    const bool is_quantized = float_form(node).is_quantized, is_there = float_form(*best).is_quantized;
    for (std::size_t i = 0; i < std::min(node.outputs.size(), best->outputs.size()); ++i) {
      std::string name = node.outputs[i], other = best->outputs[i];
      if (is_quantized && !is_there) other = behind_absorbed(ours, name, theirs, other);
      if (is_there && !is_quantized) name = behind_absorbed(theirs, other, ours, name);
      paired = add(name, other) || paired;
    }
  }
  return paired;
}

bool Pairing::pair_backward(const GraphSources& ours, const GraphSources& theirs) {
  bool paired = false;
  const std::vector<onnx_io::ValueInfo>&here = ours.graph().outputs, &there = theirs.graph().outputs;
  for (std::size_t i = 0; i < here.size() && here.size() == there.size(); ++i) {
    if (ours.owns(here[i].name) && theirs.owns(there[i].name))
      paired = add(here[i].name, there[i].name) || paired;
  }
  const auto is_made = [](const GraphSources& sources, const std::string& name) {
    return sources.owns(name) && sources.maker(name) != nullptr && !sources.is_weight(name);
  };
  for (auto node = ours.graph().nodes.rbegin(); node != ours.graph().nodes.rend(); ++node) {
    for (const std::string& output : node->outputs) {
      const auto other = partners_.find(output);
      if (other == partners_.end()) continue;
      const Node* const made = ours.maker(ours.source(output));
      const Node* const made_there = theirs.maker(theirs.source(std::string(other->second)));
      if (made == nullptr || made_there == nullptr || !is_one_operator(*made, *made_there)) continue;
      if (!ours.owns(made->outputs[0]) || !theirs.owns(made_there->outputs[0])) continue;
      for (std::size_t i = 0; i < std::min(made->outputs.size(), made_there->outputs.size()); ++i)
        paired = add(made->outputs[i], made_there->outputs[i]) || paired;
      const std::vector<std::string> data = float_form(*made).data, data_there = float_form(*made_there).data;
      for (std::size_t i = 0; i < std::min(data.size(), data_there.size()); ++i) {
        const std::string a = ours.source(data[i]), b = theirs.source(data_there[i]);
        if (is_made(ours, a) && is_made(theirs, b)) paired = add(a, b) || paired;
      }
    }
  }
  return paired;
}

void Pairing::pair_seen_through(const GraphSources& ours, const GraphSources& theirs) {
  for (const Node& node : ours.graph().nodes) {
    for (const std::string& name : node.outputs) {
      if (name.empty() || partners_.contains(name) || ours.is_weight(name)) continue;
      const std::string before = ours.source(name);
      if (before == name) continue;
      // A Relu before QuantizeLinear is left to it, and the node before gets the name.
      if (node.op_type != "QuantizeLinear" && own_maker(theirs, before) != nullptr && add(name, before))
        continue;
      const std::string* const found = known_partner(before);
      if (found == nullptr) continue;
      const bool is_quantized = node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear";
      partners_.emplace(name,
                        is_quantized ? behind_absorbed(ours, before, theirs, *found) : std::string(*found));
    }
  }
}

void Pairing::pair_bodies(const GraphSources& ours, const GraphSources& theirs) {
  for (const Node& node : ours.graph().nodes) {
    if (!onnx_io::has_body(node)) continue;
    const auto paired =
        std::ranges::find_if(node.outputs, [&](const std::string& name) { return partners_.contains(name); });
    const Node* const other =
        paired == node.outputs.end() ? nullptr : own_maker(theirs, partners_.at(*paired));
    if (other == nullptr || other->op_type != node.op_type || other->domain != node.domain) continue;
    std::size_t count = 0;
    onnx_io::for_each_body(node, [&](const Graph&, const onnx_io::Attribute&) { ++count; });
    onnx_io::for_each_body(node, [&](const Graph& body, const onnx_io::Attribute& attribute) {
      const onnx_io::Attribute* const same = other->find_attribute(attribute.name);
      if (same == nullptr || same->graphs.size() != 1 || attribute.graphs.size() != 1) return;
      bodies_.push_back({path_name(node) + "/", path_name(*other) + "/", count == 1,
                         Pairing(GraphSources(body, &ours), GraphSources(*same->graphs[0], &theirs), *this)});
    });
  }
}

std::optional<std::string> Pairing::partner(const std::string& ours) const {
  if (const auto found = partners_.find(ours); found != partners_.end()) return found->second;
  for (const Bodies& bodies : bodies_) {
    std::size_t at = bodies.ours.size();
    if (!ours.starts_with(bodies.ours)) continue;
    if (bodies.has_steps) at = ours.find('/', at) + 1;
    if (at == 0) continue;
    if (const auto inner = bodies.inside.partner(ours.substr(at)))
      return bodies.theirs + ours.substr(bodies.ours.size(), at - bodies.ours.size()) + *inner;
  }
  return std::nullopt;
}

std::size_t Pairing::by_structure() const {
  std::size_t count = by_structure_;
  for (const Bodies& bodies : bodies_) count += bodies.inside.by_structure();
  return count;
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

std::optional<std::string> Pairing::pair_by_numbers(const std::string& name, const Value& ours,
                                                    const ValueStore& theirs) {
  if (!ours.is_tensor() || !Floats::set.contains(ours.tensor().dtype())) return std::nullopt;
  constexpr double least_cosine = 0.99, norms_apart = 0.1;
  if (numbers_.empty() || ours.tensor().size() < fewest_elements) return std::nullopt;
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
  if (best == nullptr || !add(name, best->name)) return std::nullopt;
  ++by_numbers_;
  return partner(name);
}

}  // namespace grurun::trial
