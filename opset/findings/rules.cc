#include "opset/findings/rules.h"

#include <algorithm>
#include <array>

#include "opset/findings/form_watch.h"

namespace grurun::opset {

namespace {

struct Row {
  Rule rule;
  const char* code;
  Severity severity;
  const char* text;
};

constexpr std::array rows = {
    Row{Rule::ir_version, "MODEL001", Severity::error,
        "ir_version is set, at least 1 and no newer than the IR known here"},
    Row{Rule::domain_imported, "MODEL002", Severity::error, "opset_import names every domain that nodes use"},
    Row{Rule::opset_known, "MODEL003", Severity::error,
        "an imported opset of a standard domain is no newer than the newest known here"},
    Row{Rule::opset_valid, "MODEL004", Severity::error, "opset versions count from 1"},
    Row{Rule::nesting_depth, "MODEL005", Severity::error,
        "subgraphs and function calls nest at most 64 deep"},
    Row{Rule::expansion_size, "MODEL006", Severity::warning,
        "a model is small enough, its functions expanded, for shapes to be inferred"},
    Row{Rule::finding_count, "MODEL007", Severity::warning, "findings are few enough to list them all"},
    Row{Rule::function_unique, "FUNCTION001", Severity::error,
        "domain, name and overload of a model-local function are unique, and so are its parameters"},
    Row{Rule::function_recursion, "FUNCTION002", Severity::error,
        "a model-local function does not call itself, directly or through others"},
    Row{Rule::function_reference, "FUNCTION003", Severity::error,
        "an attribute reference stands in a function and names one of its attributes"},
    Row{Rule::function_call_arity, "FUNCTION004", Severity::error,
        "a call has at most as many inputs and outputs as the function"},
    Row{Rule::function_call_attribute, "FUNCTION005", Severity::error,
        "a call has only attributes that the function declares"},
    Row{Rule::function_overload, "FUNCTION006", Severity::error,
        "a call names an overload of a model-local function that the model defines"},
    Row{Rule::name_defined, "GRAPH001", Severity::error,
        "an input of a node is a graph input, an initializer, an output of a node, or of an outer scope"},
    Row{Rule::topological_order, "GRAPH002", Severity::error,
        "nodes are sorted: a value is computed before it is used"},
    Row{Rule::acyclic, "GRAPH003", Severity::error, "no node depends on its own output"},
    Row{Rule::name_unique, "GRAPH004", Severity::error,
        "a name is given once (static single assignment), across the outer scopes too; inputs and "
        "initializers "
        "of a body that hide an outer name are a warning"},
    Row{Rule::output_computed, "GRAPH005", Severity::error,
        "an output of a graph or function is a value of that graph or function"},
    Row{Rule::initializer_type, "GRAPH006", Severity::error,
        "initializers, graph inputs, value_info and graph outputs of one name have one type and shape"},
    Row{Rule::initializer_listed, "GRAPH007", Severity::error,
        "below IR version 4 an initializer is listed as graph input"},
    Row{Rule::element_declared, "GRAPH008", Severity::error,
        "a graph input or output that is a tensor has an element type"},
    Row{Rule::value_info_once, "GRAPH009", Severity::error,
        "value_info of a graph or function names a value once"},
    Row{Rule::value_info_known, "GRAPH010", Severity::warning,
        "value_info names values that its graph or function has"},
    Row{Rule::node_name_unique, "GRAPH011", Severity::warning,
        "no two nodes of a graph or function have the same name"},
    Row{Rule::operator_known, "SCHEMA001", Severity::error,
        "an operator exists in the imported opset of its domain"},
    Row{Rule::domain_known, "SCHEMA002", Severity::warning,
        "the domain of an operator is a standard one or the model defines the operator as a function"},
    Row{Rule::operator_deprecated, "SCHEMA003", Severity::error,
        "an operator is not deprecated in the imported opset"},
    Row{Rule::attribute_known, "SCHEMA004", Severity::error,
        "an attribute exists in this version of the operator"},
    Row{Rule::attribute_required, "SCHEMA005", Severity::error, "required attributes are present"},
    Row{Rule::attribute_type, "SCHEMA006", Severity::error,
        "an attribute has the type that this version of the operator gives it"},
    Row{Rule::attribute_once, "SCHEMA007", Severity::error, "a node has an attribute once"},
    Row{Rule::input_count, "SCHEMA008", Severity::error,
        "the number of inputs is one that this version of the operator takes"},
    Row{Rule::input_required, "SCHEMA009", Severity::error,
        "only optional inputs are omitted (by an empty name)"},
    Row{Rule::output_count, "SCHEMA010", Severity::error,
        "the number of outputs is one that this version of the operator gives"},
    Row{Rule::output_required, "SCHEMA011", Severity::error,
        "only optional outputs are omitted (by an empty name)"},
    Row{Rule::attributes_together, "SCHEMA012", Severity::error,
        "attributes are allowed together, and lists that belong together are as long"},
    Row{Rule::attribute_value, "SCHEMA013", Severity::error,
        "an attribute that names a mode, or a choice by a number, names one that this version of the "
        "operator lists; sizes, counts and steps are not too small"},
    Row{Rule::attributes_usable, "SCHEMA014", Severity::error,
        "attributes and constants are such that the node can be prepared: no run would refuse them"},
    Row{Rule::surplus_values, "SCHEMA015", Severity::warning,
        "coefficients has no more values than classes and features take"},
    Row{Rule::type_admitted, "TYPE001", Severity::error,
        "an input or output has a type that this version of the operator admits"},
    Row{Rule::type_bound, "TYPE002", Severity::error,
        "inputs and outputs that share a type constraint have the same type"},
    Row{Rule::constant_type, "TYPE003", Severity::warning,
        "Constant-1 holds a floating-point tensor (exporters of that time did not keep to it)"},
    Row{Rule::inference, "SHAPE001", Severity::error,
        "types, shapes and attributes of a node agree with what the operator states"},
    Row{Rule::declared_type, "SHAPE002", Severity::error, "a declared type is the one that inference finds"},
    Row{Rule::declared_shape, "SHAPE003", Severity::error,
        "a declared shape does not contradict the one that inference finds"},
    Row{Rule::actual_declared, "SHAPE004", Severity::warning,
        "a value has the type and shape at run time that the model declares, a dimension's name one size"},
    Row{Rule::actual_inferred, "SHAPE005", Severity::warning,
        "a value has the type and shape at run time that inference finds"},
    Row{Rule::numbers_finite, "NUMBER001", Severity::warning,
        "weights and constants, up to 512 MiB of them, hold no NaN, and no infinity that a product, a "
        "recurrent "
        "layer or a norm reads"},
    Row{Rule::random_output, "RANDOM001", Severity::warning,
        "no output depends on a random value: no Dropout trains and no operator draws"},
    Row{Rule::onnx_checker, "ONNX001", Severity::error, "ONNX's own checker accepts the model"},
    Row{Rule::onnx_checker_too, "ONNX002", Severity::note,
        "ONNX's own checker finds fault too, with what other findings explain"},
    Row{Rule::form_bound, "FORM001", Severity::warning, "min and max of Clip are scalars, of shape []"},
    Row{Rule::form_reduced_scalar, "FORM002", Severity::warning, "a scalar is reduced without axes"},
    Row{Rule::form_lengths, "FORM003", Severity::warning, "seqlens_k of GroupQueryAttention has one axis"},
    Row{Rule::form_output, "FORM004", Severity::warning, "an output that is named is made"},
    Row{Rule::form_class, "FORM005", Severity::warning, "a classifier of trees has two classes or more"},
    Row{Rule::form_epsilon, "FORM006", Severity::warning, "LayerNormalization has no attribute 'epsion'"},
    Row{Rule::form_scalar_input, "FORM007", Severity::warning,
        "an input that is declared as a scalar is given one"},
    Row{Rule::form_rotary, "FORM008", Severity::warning,
        "rotary_embedding_dim of Attention stands beside do_rotary = 1"},
    Row{Rule::form_operator, "FORM009", Severity::warning,
        "an operator of ONNX Runtime is not written as one of ai.onnx"},
    Row{Rule::form_shared_batch, "FORM010", Severity::warning,
        "caches and position_ids of RotaryEmbedding have the batch of X"},
    Row{Rule::form_signal, "FORM011", Severity::warning,
        "the signal of STFT has a last axis, of 1 for real and of 2 for complex numbers"},
    Row{Rule::form_bias, "FORM012", Severity::warning, "the bias of a quantized product has one axis"},
};

static_assert(rows_in_order(rows));

std::vector<RuleInfo> make_rules() {
  std::vector<RuleInfo> made;
  for (const Row& row : rows) made.push_back({row.code, row.severity, row.text});
  return made;
}

}  // namespace

std::string RuleInfo::text_at(int version) const {
  std::string out = text;
  for (const auto& [from, more] : since) {
    if (version >= from) out += more;
  }
  return out;
}

std::string RuleInfo::full_text() const {
  return versions.empty() ? text : text_at(versions.back());
}

std::span<const RuleInfo> general_rules() {
  static const std::vector<RuleInfo> rules = make_rules();
  return rules;
}

bool keeps_from_judging(std::string_view code) {
  constexpr Rule rules[] = {Rule::domain_imported, Rule::opset_known, Rule::opset_valid, Rule::nesting_depth,
                            Rule::expansion_size};
  return std::ranges::any_of(rules, [&](Rule rule) { return rule_info(rule).code == code; });
}

bool is_form_code(std::string_view code) {
  return code.starts_with("FORM");
}

Severity severity_of(const RuleInfo& rule) {
  return is_form_code(rule.code) && forms_are_refused() ? Severity::error : rule.severity;
}

const RuleInfo& rule_info(Rule rule) {
  return general_rules()[static_cast<std::size_t>(rule)];
}

bool is_too_new(const Finding& finding, const onnx_io::Model& model) {
  // An ir_version that is none is below 1.
  return finding.code == rule_info(Rule::opset_known).code ||
         (finding.code == rule_info(Rule::ir_version).code && model.ir_version > 0);
}

}  // namespace grurun::opset
