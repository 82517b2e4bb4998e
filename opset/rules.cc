#include "opset/rules.h"

#include <algorithm>
#include <array>

namespace grurun::opset {

namespace {

constexpr std::array rules = {
    RuleInfo{Rule::ir_version, "MODEL001", Severity::error,
             "ir_version is set, at least 1 and no newer than the IR known here"},
    RuleInfo{Rule::domain_imported, "MODEL002", Severity::error,
             "opset_import names every domain that nodes use"},
    RuleInfo{Rule::opset_known, "MODEL003", Severity::error,
             "an imported opset of a standard domain is no newer than the newest known here"},
    RuleInfo{Rule::opset_valid, "MODEL004", Severity::error, "opset versions count from 1"},
    RuleInfo{Rule::nesting_depth, "MODEL005", Severity::error,
             "subgraphs and function calls nest at most 64 deep"},
    RuleInfo{Rule::expansion_size, "MODEL006", Severity::warning,
             "a model is small enough, its functions expanded, for shapes to be inferred"},
    RuleInfo{Rule::finding_count, "MODEL007", Severity::warning, "findings are few enough to list them all"},
    RuleInfo{Rule::function_unique, "FUNCTION001", Severity::error,
             "domain, name and overload of a model-local function are unique, and so are its parameters"},
    RuleInfo{Rule::function_recursion, "FUNCTION002", Severity::error,
             "a model-local function does not call itself, directly or through others"},
    RuleInfo{Rule::function_reference, "FUNCTION003", Severity::error,
             "an attribute reference stands in a function and names one of its attributes"},
    RuleInfo{Rule::function_call_arity, "FUNCTION004", Severity::error,
             "a call has at most as many inputs and outputs as the function"},
    RuleInfo{Rule::function_call_attribute, "FUNCTION005", Severity::warning,
             "a call has only attributes that the function declares"},
    RuleInfo{
        Rule::name_defined, "GRAPH001", Severity::error,
        "an input of a node is a graph input, an initializer, an output of a node, or of an outer scope"},
    RuleInfo{Rule::topological_order, "GRAPH002", Severity::error,
             "nodes are sorted: a value is computed before it is used"},
    RuleInfo{Rule::acyclic, "GRAPH003", Severity::error, "no node depends on its own output"},
    RuleInfo{Rule::name_unique, "GRAPH004", Severity::error,
             "a name is given once (static single assignment), across the outer scopes too"},
    RuleInfo{Rule::output_computed, "GRAPH005", Severity::error,
             "an output of a graph or function is a value of that graph or function"},
    RuleInfo{Rule::initializer_type, "GRAPH006", Severity::error,
             "an initializer has the type and shape that the graph input of the same name declares"},
    RuleInfo{Rule::initializer_listed, "GRAPH007", Severity::error,
             "below IR version 4 an initializer is listed as graph input"},
    RuleInfo{Rule::operator_known, "SCHEMA001", Severity::error,
             "an operator exists in the imported opset of its domain"},
    RuleInfo{Rule::domain_known, "SCHEMA002", Severity::warning,
             "the domain of an operator is a standard one or the model defines the operator as a function"},
    RuleInfo{Rule::operator_deprecated, "SCHEMA003", Severity::error,
             "an operator is not deprecated in the imported opset"},
    RuleInfo{Rule::attribute_known, "SCHEMA004", Severity::error,
             "an attribute exists in this version of the operator"},
    RuleInfo{Rule::attribute_required, "SCHEMA005", Severity::error, "required attributes are present"},
    RuleInfo{Rule::attribute_type, "SCHEMA006", Severity::error,
             "an attribute has the type that this version of the operator gives it"},
    RuleInfo{Rule::attribute_once, "SCHEMA007", Severity::error, "a node has an attribute once"},
    RuleInfo{Rule::input_count, "SCHEMA008", Severity::error,
             "the number of inputs is one that this version of the operator takes"},
    RuleInfo{Rule::input_required, "SCHEMA009", Severity::error,
             "only optional inputs are omitted (by an empty name)"},
    RuleInfo{Rule::output_count, "SCHEMA010", Severity::error,
             "the number of outputs is one that this version of the operator gives"},
    RuleInfo{Rule::output_required, "SCHEMA011", Severity::error,
             "only optional outputs are omitted (by an empty name)"},
    RuleInfo{Rule::type_admitted, "TYPE001", Severity::error,
             "an input or output has a type that this version of the operator admits"},
    RuleInfo{Rule::type_bound, "TYPE002", Severity::error,
             "inputs and outputs that share a type constraint have the same type"},
    RuleInfo{Rule::constant_type, "TYPE003", Severity::warning,
             "Constant-1 holds a floating-point tensor (exporters of that time did not keep to it)"},
    RuleInfo{Rule::inference, "SHAPE001", Severity::error,
             "types, shapes and attributes of a node agree with what the operator states"},
    RuleInfo{Rule::declared_type, "SHAPE002", Severity::error,
             "a declared type is the one that inference finds"},
    RuleInfo{Rule::declared_shape, "SHAPE003", Severity::error,
             "a declared shape does not contradict the one that inference finds"},
    RuleInfo{Rule::onnx_checker, "ONNX001", Severity::error, "ONNX's own checker accepts the model"},
    RuleInfo{Rule::onnx_checker_too, "ONNX002", Severity::note,
             "ONNX's own checker finds fault too, with what other findings explain"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (static_cast<std::size_t>(rules[i].rule) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const RuleInfo> all_rules() {
  return rules;
}

const RuleInfo& rule_info(Rule rule) {
  return rules[static_cast<std::size_t>(rule)];
}

const RuleInfo* find_rule(std::string_view code) {
  const auto found = std::ranges::find(rules, code, &RuleInfo::code);
  return found == rules.end() ? nullptr : &*found;
}

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

}  // namespace grurun::opset
