// Operators of com.microsoft on several streams of hidden states: [..., C, H], or [..., C * H] where
// num_branches states C.
#include <algorithm>
#include <initializer_list>
#include <string>

#include "opset/pages/microsoft_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

struct Streams {
  bool flat = false;
  Sizes outer;
  Size count, hidden;
};

// nullopt where the rank is not known.
std::optional<Streams> streams_of(const NodeFacts& facts) {
  const SymbolicShape* shape = facts.shape(0);
  const std::int64_t stated = facts.int_attribute("num_branches", 0);
  if (shape == nullptr || stated < 0) return std::nullopt;
  const char* name = input_name(facts, 0);
  if (rank_of(*shape) < (stated == 0 ? 2 : 1))
    fail_invalid("{} is {}, but must end with {}", name, to_string(*shape),
                 stated == 0 ? "[C,H], as num_branches is not stated" : "[C*H]");
  Streams found{stated != 0, sizes_of(*shape), std::nullopt, std::nullopt};
  const Size last = found.outer.back();
  found.outer.pop_back();
  if (found.flat) {
    if (last && *last % stated != 0)
      fail_invalid("{} is {}: num_branches {} does not divide its last size", name, to_string(*shape),
                   stated);
    found.count = stated;
    found.hidden = last ? Size(*last / stated) : std::nullopt;
  } else {
    found.count = found.outer.back();
    found.hidden = last;
    found.outer.pop_back();
  }
  if (found.count == 0 || found.hidden == 0)
    fail_invalid("{} is {}: its streams have no elements", name, to_string(*shape));
  return found;
}

Sizes joined(Sizes sizes, std::initializer_list<Size> last) {
  sizes.insert(sizes.end(), last);
  return sizes;
}

void require_any(const NodeFacts& facts, std::size_t input, const std::vector<Sizes>& allowed) {
  const SymbolicShape* shape = facts.shape(input);
  if (shape == nullptr) return;
  const Sizes given = sizes_of(*shape);
  if (std::ranges::any_of(allowed, [&](const Sizes& sizes) { return may_be(given, sizes); })) return;
  std::string text;
  for (const Sizes& sizes : allowed) text += (text.empty() ? "" : " or ") + text_of(sizes);
  fail_invalid("{} is {}, but must be {}", input_name(facts, input), to_string(*shape), text);
}

}  // namespace

void check_branch_scale(const NodeFacts& facts) {
  const auto streams = streams_of(facts);
  if (!streams) return;
  const auto& [flat, outer, C, H] = *streams;
  require_any(facts, 1, {{H}, {count_of({C, H})}, {C, H}});
}

void check_normed_groups(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  if (X != nullptr && X->empty()) fail_invalid("X is a scalar, but must have an axis");
  const Size last = X == nullptr ? std::nullopt : size_of(X, rank_of(*X) - 1),
             size = size_of(facts.shape(1), 0);
  if (size == 0) fail_invalid("scale is empty");
  if (last && size && *last % *size != 0)
    fail_invalid("scale has {} elements, which do not divide the {} of a row of X {}", *size, *last,
                 to_string(*X));
}

void check_mixed_streams(const NodeFacts& facts) {
  const auto streams = streams_of(facts);
  if (!streams) return;
  const auto& [flat, outer, C, H] = *streams;
  const bool pre = facts.op_type() == "HyperConnectionPreMix";
  std::vector<Sizes> gates{joined(outer, {C}), joined(outer, {C, 1}), joined(outer, {C, H})};
  if (pre && flat) gates.push_back(joined(outer, {count_of({C, H})}));
  require_any(facts, pre ? 1 : 2, gates);
  if (pre) return;
  require_any(facts, 1, {joined(outer, {H})});
  require_any(facts, 3, {joined(outer, {C, C})});
}

void check_attention_gate(const NodeFacts& facts) {
  const SymbolicShape* a = facts.shape(0);
  if (a == nullptr) return;
  if (a->empty() || size_of(a, rank_of(*a) - 1) == 0)
    fail_invalid("a is {}, but must have a number for each head", to_string(*a));
  const Size heads = size_of(a, rank_of(*a) - 1);
  for (const std::size_t i : {1, 2}) {
    const SymbolicShape* shape = facts.shape(i);
    const Size count = shape == nullptr ? std::nullopt : count_of(sizes_of(*shape));
    if (count && heads && *count != *heads)
      fail_invalid("{} has {} elements, but a {} has {} heads", input_name(facts, i), *count, to_string(*a),
                   *heads);
  }
  require_sizes("b", facts.shape(3), sizes_of(*a), "as a");
}

std::optional<std::string> beta_without_b(const onnx_io::Node& node, int) {
  const auto names = [](const std::vector<std::string>& list, std::size_t i) {
    return i < list.size() && !list[i].empty();
  };
  if (!names(node.outputs, 1) || names(node.inputs, 3)) return std::nullopt;
  return "output beta needs input b";
}

std::optional<std::string> routed_outputs(const onnx_io::Node& node, int) {
  const auto wants = [&](std::size_t i) { return i < node.outputs.size() && !node.outputs[i].empty(); };
  if (wants(1) != wants(2)) return "selection_scores and router_weights must be outputs together";
  if (wants(0) && wants(1)) return "router_probs cannot be an output beside selection_scores";
  const bool projects = node.inputs.size() > 2 && !node.inputs[2].empty();
  const onnx_io::Attribute* groups = node.find_attribute("n_group");
  if (wants(1) && groups != nullptr && groups->i > 1)
    return fmt::format("n_group is {}, but must be 1 for selection_scores", groups->i);
  if (projects && !wants(1)) return "projection_weight needs the outputs selection_scores and router_weights";
  return std::nullopt;
}

void check_group_router(const NodeFacts& facts) {
  const SymbolicShape *logits = facts.shape(0), *bias = facts.shape(1);
  const bool projects = facts.has_input(2);
  if (logits != nullptr && (projects ? rank_of(*logits) != 2 : rank_of(*logits) < 2))
    fail_invalid("logits is {}, but must have {} axes", to_string(*logits), projects ? "2" : "at least 2");
  const Size width = logits == nullptr ? std::nullopt : size_of(logits, rank_of(*logits) - 1);
  require_sizes("projection_weight", facts.shape(2), {std::nullopt, width}, "a row for each expert");
  if (projects && bias != nullptr && rank_of(*bias) != 1)
    fail_invalid("expert_bias is {}, but must have one axis beside projection_weight", to_string(*bias));
  const Size experts = projects ? size_of(facts.shape(2), 0) : width;
  const Size biases = bias == nullptr ? std::nullopt : count_of(sizes_of(*bias));
  if (experts && biases && *experts != *biases)
    fail_invalid("expert_bias has {} elements, but there are {} experts", *biases, *experts);
  const Size count = experts ? experts : biases;
  if (count == 0) fail_invalid("there are no experts: expert_bias is empty");
  const std::int64_t groups = facts.int_attribute("n_group", 1), taken = facts.int_attribute("topk_group", 1);
  if (groups < 1) return;
  if (taken > groups) fail_invalid("topk_group is {}, but there are {} groups", taken, groups);
  if (!count) return;
  if (*count % groups != 0) fail_invalid("n_group is {}, which does not divide {} experts", groups, *count);
  if (const std::int64_t top = facts.int_attribute("top_k", 1); top > *count)
    fail_invalid("top_k is {}, but there are {} experts", top, *count);
}

}  // namespace grurun::opset
