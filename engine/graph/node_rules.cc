#include "engine/graph/node_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "opset/schema/near_match.h"
#include "tensor/error.h"

namespace grurun::engine {

using onnx_io::Attribute;
using onnx_io::Node;

std::string op_label(const Node& node, int since_version) {
  std::string name = onnx_io::qualified_name(node.domain, node.op_type);
  return since_version > 0 ? fmt::format("{}-{}", name, since_version) : name;
}

std::string node_label(const Node& node, const std::string& path, int since_version) {
  if (!node.name.empty())
    return fmt::format("node '{}{}' ({})", path, node.name, op_label(node, since_version));
  const auto named =
      std::ranges::find_if(node.outputs, [](const std::string& name) { return !name.empty(); });
  const std::string output = named == node.outputs.end() ? "" : *named;
  return fmt::format("node that makes '{}{}' ({})", path, output, op_label(node, since_version));
}

std::int64_t imported_version(const Node& node, const Scope& scope) {
  const auto found = scope.imports->find(node.domain);
  if (found == scope.imports->end()) {
    fail_invalid("{} is of domain '{}', which opset_import does not name", node.op_type,
                 onnx_io::shown_domain(node.domain));
  }
  const std::optional<std::int64_t> newest = opset::newest_opset(node.domain);
  if (newest && found->second > *newest) {
    fail_unsupported("opset {} of {} is newer than {}, the newest known here", found->second,
                     onnx_io::shown_domain(node.domain), *newest);
  }
  return found->second;
}

int resolved_version(const Node& node, std::int64_t opset_version) {
  if (const auto since = opset::since_version(node.op_type, node.domain, opset_version)) return *since;
  if (opset::newest_opset(node.domain))
    fail_invalid("{}", opset::describe_unknown_operator(node.op_type, node.domain, opset_version));
  const int version = newest_op_version(node.domain, node.op_type, opset_version);
  if (version > 0) return version;
  fail_unsupported("operator {} of the custom domain '{}' is not known here", node.op_type,
                   onnx_io::shown_domain(node.domain));
}

std::optional<Node> resolve_references(const Node& node, const Scope& scope) {
  const auto is_reference = [](const Attribute& attribute) { return !attribute.ref_attr_name.empty(); };
  if (std::ranges::none_of(node.attributes, is_reference)) return std::nullopt;
  Node resolved = node;
  resolved.attributes.clear();
  for (const Attribute& attribute : node.attributes) {
    if (!is_reference(attribute)) {
      resolved.attributes.push_back(attribute);
      continue;
    }
    if (!scope.attributes) {
      fail_invalid("attribute '{}' refers to '{}', but only a function's body may refer to attributes",
                   attribute.name, attribute.ref_attr_name);
    }
    const auto bound = scope.attributes->find(attribute.ref_attr_name);
    if (bound == scope.attributes->end()) continue;
    resolved.attributes.push_back(bound->second);
    resolved.attributes.back().name = attribute.name;
  }
  return resolved;
}

std::vector<InputRule> input_rules(const opset::Signature& signature, const OpRow& row, std::size_t count) {
  std::vector<InputRule> rules;
  std::map<std::string_view, std::size_t> firsts;  // by constraint
  const auto inputs = signature.inputs;
  for (std::size_t i = 0; i < count && !inputs.empty(); ++i) {
    const bool beyond = i >= inputs.size() && inputs.back().kind != opset::ParameterKind::variadic;
    const opset::SignatureInput& input = inputs[std::min(i, inputs.size() - 1)];
    InputRule rule;
    rule.name = input.name;
    if (!beyond) {
      rule.schema = &input.types;
      rule.kernel = input.types.tensors;
    }
    for (const TypeRule& stated : row.rules) {
      if (std::string_view(input.type) == stated.constraint ||
          std::string("input:") + input.name == stated.constraint) {
        rule.kernel = rule.kernel & stated.types;
      }
    }
    const bool heterogeneous = input.kind == opset::ParameterKind::variadic && !input.homogeneous;
    const bool constrained = input.is_constraint && !heterogeneous;
    rule.first = constrained ? firsts.emplace(input.type, i).first->second : i;
    rules.push_back(rule);
  }
  return rules;
}

std::vector<TypeCheck> type_checks(const std::vector<InputRule>& rules, const std::vector<int>& slots,
                                   const std::vector<const Value*>& constants) {
  std::vector<DType> types(rules.size(), DType::undefined);  // of constants, by the first of those alike
  std::vector<TypeCheck> all, of_others;
  bool obeyed = true;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (slots[i] == no_slot) continue;
    all.push_back({i, rules[i].kernel, rules[i].first});
    if (constants[i] == nullptr || !constants[i]->is_tensor()) {
      of_others.push_back(all.back());
      continue;
    }
    const DType type = constants[i]->tensor().dtype();
    DType& alike = types[rules[i].first];
    if (!rules[i].kernel.contains(type) || (alike != DType::undefined && alike != type)) obeyed = false;
    alike = type;
  }
  if (!obeyed) return all;
  for (TypeCheck& check : of_others) {
    const DType type = types[check.same_as];
    if (type == DType::undefined) continue;
    check.types = check.types & DTypeSet(type);
    check.same_as = check.input;
  }
  return of_others;
}

void check_counts(const Node& node, const opset::Signature& signature) {
  const auto may_be_left_out = [&](std::size_t input) {
    return input < signature.inputs.size() && signature.inputs[input].kind == opset::ParameterKind::optional;
  };
  const auto check = [&](const char* what, const std::vector<std::string>& names, int least, int most) {
    std::size_t count = names.size();
    // An empty name in an optional place still counts: Loop needs two inputs and may have (M, "").
    const bool inputs = &names == &node.inputs;
    while (count > 0 && names[count - 1].empty() && !(inputs && may_be_left_out(count - 1))) --count;
    if (count >= static_cast<std::size_t>(least) && names.size() <= static_cast<std::size_t>(most)) return;
    if (names.size() >= static_cast<std::size_t>(least) && names.size() <= static_cast<std::size_t>(most)) {
      fail_invalid("{} needs its {} {} ('{}')", op_label(node, signature.since_version), what, count,
                   inputs ? signature.inputs[std::min(count, signature.inputs.size() - 1)].name
                          : signature.outputs[std::min(count, signature.outputs.size() - 1)].name);
    }
    const std::string range = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
    fail_invalid("{} has {} {}s, but {} has {}", op_label(node, signature.since_version), names.size(), what,
                 "the standard", range);
  };
  check("input", node.inputs, signature.min_input, signature.max_input);
  check("output", node.outputs, signature.min_output, signature.max_output);
  for (std::size_t i = 0; i < node.inputs.size() && i < signature.inputs.size(); ++i) {
    if (node.inputs[i].empty() && signature.inputs[i].kind == opset::ParameterKind::single) {
      fail_invalid("{} needs its input {} ('{}')", op_label(node, signature.since_version), i,
                   signature.inputs[i].name);
    }
  }
}

namespace {

/// The element type that an attribute chooses for output 0; undefined where it chooses none.
DType chosen_type(const Attribute& attribute) {
  static constexpr std::array names{"to", "dtype", "output_dtype", "output_datatype"};
  if (attribute.name == "value" && attribute.tensors.size() == 1) return attribute.tensors[0].dtype();
  const bool is_number = attribute.type == onnx_io::AttributeType::int_ && is_valid_dtype(attribute.i);
  if (!is_number || std::ranges::find(names, attribute.name) == names.end()) return DType::undefined;
  return static_cast<DType>(attribute.i);
}

void check_chosen_type(const Node& node, const Attribute& attribute, const opset::Signature& signature) {
  const DType chosen = chosen_type(attribute);
  if (chosen == DType::undefined || signature.outputs.empty()) return;
  const opset::ParameterTypes& types = signature.outputs[0].types;
  if (types.tensors.contains(chosen) || types.sequences.contains(chosen)) return;
  fail_invalid("{} is {}, which {} does not make", attribute.name, dtype_name(chosen),
               op_label(node, signature.since_version));
}

}  // namespace

void check_attributes(const Node& node, const opset::Signature& signature) {
  const auto label = [&] { return op_label(node, signature.since_version); };
  std::vector<bool> given(signature.attributes.size());
  for (const Attribute& attribute : node.attributes) {
    const auto is_it = [&](const opset::SignatureAttribute& known) { return attribute.name == known.name; };
    const auto found = std::ranges::find_if(signature.attributes, is_it);
    if (found == signature.attributes.end()) {
      fail_invalid("{} has no attribute '{}': remove it, or import the opset that defines it", label(),
                   attribute.name);
    }
    const auto at = static_cast<std::size_t>(found - signature.attributes.begin());
    if (given[at]) fail_invalid("attribute '{}' of {} is given twice", attribute.name, label());
    given[at] = true;
    check_chosen_type(node, attribute, signature);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (signature.attributes[i].required && !given[i])
      fail_invalid("{} needs the attribute '{}'", label(), signature.attributes[i].name);
  }
}

}  // namespace grurun::engine
