#include "engine/graph/node_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "engine/graph/refusal.h"
#include "opset/check/check_node.h"
#include "opset/findings/form_watch.h"
#include "opset/findings/labels.h"
#include "opset/findings/rule_error.h"
#include "opset/inference/judge_types.h"
#include "opset/pages/forms.h"
#include "opset/pages/judge_page.h"
#include "opset/schema/function_calls.h"
#include "opset/schema/signature_fit.h"
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

void require_unique(const std::vector<onnx_io::Function>& functions) {
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const onnx_io::Function& function : functions) {
    if (!seen.emplace(function.domain, function.name, function.overload).second)
      fail_invalid("function '{}' of domain '{}' is defined twice", function.name,
                   onnx_io::shown_domain(function.domain));
    const std::vector<std::string> faults = opset::repeated_parameters(function);
    if (!faults.empty()) {
      fail_invalid("{}: {}", opset::function_label(function.domain, function.name, function.overload),
                   faults.front());
    }
  }
}

const opset::Signature* find_signature(const Node& node, const Scope& scope) {
  const auto import = scope.imports->find(node.domain);
  if (import == scope.imports->end()) return nullptr;
  return opset::find_signature(node.op_type, node.domain, import->second);
}

std::int64_t imported_version(const Node& node, const Scope& scope) {
  const auto import = scope.imports->find(node.domain);
  if (import == scope.imports->end()) opset::require_node(node, *scope.imports);
  const std::int64_t version = import == scope.imports->end() ? 0 : import->second;
  const std::optional<std::int64_t> newest = opset::newest_opset(node.domain);
  if (newest && version > *newest) {
    fail_unsupported("opset {} of {} is newer than {}, the newest known here", version,
                     onnx_io::shown_domain(node.domain), *newest);
  }
  return version;
}

int custom_version(const Node& node, std::int64_t opset_version) {
  const int version = newest_op_version(node.domain, node.op_type, opset_version);
  if (version > 0) return version;
  fail_unsupported("operator {} of the custom domain '{}' is not known here", node.op_type,
                   onnx_io::shown_domain(node.domain));
}

namespace {

// Where the version is not known, the node is to be judged for that; but for what is outside the standard.
bool needs_judge(const Node& node, const Scope& scope, const opset::Signature* signature) {
  if (signature != nullptr) {
    return !opset::plainly_fits(node, *signature) ||
           !opset::attribute_value_faults(node, signature->since_version).empty();
  }
  return !scope.imports->contains(node.domain) || opset::newest_opset(node.domain);
}

}  // namespace

void require_rules(const Node& node, const Scope& scope, const opset::Signature* signature) {
  if (needs_judge(node, scope, signature)) opset::require_node(node, *scope.imports);
  if (signature == nullptr) return;
  const DType refused = opset::refused_choice(node, *signature);
  if (refused == DType::undefined) return;
  const ValueType tensor = ValueType::tensor(refused);
  const bool of_tensors = !signature->outputs[0].types.tensors.empty();
  const std::string type = (of_tensors ? tensor : ValueType::sequence(tensor)).to_string();
  opset::require_types(*opset::find_schema(node.op_type, node.domain, signature->since_version), {}, {&type});
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

namespace {

// A node that is prepared with constants meets its kernel before the types of its inputs are compared.
void require_input_types(const opset::NodeFacts& facts) {
  const opset::SchemaInfo* schema =
      opset::find_schema(facts.op_type(), facts.domain(), facts.since_version());
  if (schema == nullptr) return;
  std::vector<std::string> types(facts.input_count());
  opset::Spellings spellings(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (facts.dtype(i) == DType::undefined) continue;
    types[i] = ValueType::tensor(facts.dtype(i)).to_string();
    spellings[i] = &types[i];
  }
  opset::require_types(*schema, spellings, {});
}

}  // namespace

void require_facts(const opset::NodeFacts& facts) {
  require_input_types(facts);
  if (const auto fault = opset::judge_page(facts))
    throw opset::RuleError(fault->message, opset::rule_info(fault->rule).code);
  note_forms(facts, node_label(facts.node(), "", facts.since_version()));
}

void note_forms(const opset::NodeFacts& facts, const std::string& label) {
  if (!opset::forms_are_watched() || !opset::may_have_form(facts.node())) return;
  for (opset::FormFound& form : opset::forms_in_inputs(facts)) {
    // "node 'path/name' (GRU-14)", but a name may hold anything.
    const std::size_t begin = label.find('\'') + 1, end = label.rfind("' (");
    opset::tell_of_form({opset::rule_info(form.rule).code, opset::Severity::warning,
                         "graph/" + label.substr(begin, end - begin),
                         op_label(facts.node(), facts.since_version()), std::move(form.message)});
  }
}

void refuse_by_rule(const Error& error, const opset::NodeFacts& facts, opset::Rule otherwise) {
  const bool wordless = dynamic_cast<const Refusal*>(&error) != nullptr;
  const bool of_the_node = (wordless || error.kind() == ErrorKind::invalid_model) && error.context().empty();
  if (!of_the_node || dynamic_cast<const opset::RuleError*>(&error) != nullptr) return;
  require_facts(facts);
  if (wordless) return;
  throw opset::RuleError(error.message(), opset::rule_info(otherwise).code);
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

}  // namespace grurun::engine
