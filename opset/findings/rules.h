// The table of what a check can find: one stable code per rule. The text of a rule says what must hold; a
// finding's message says what was found and what to do. recurrent/recurrent_rules.h adds those of RNN, GRU
// and LSTM.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/findings/finding.h"

namespace grurun::opset {

enum class Rule {
  ir_version,
  domain_imported,
  opset_known,
  opset_valid,
  nesting_depth,
  expansion_size,
  finding_count,
  function_unique,
  function_recursion,
  function_reference,
  function_call_arity,
  function_call_attribute,
  function_overload,
  name_defined,
  topological_order,
  acyclic,
  name_unique,
  output_computed,
  initializer_type,
  initializer_listed,
  element_declared,
  value_info_once,
  value_info_known,
  node_name_unique,
  operator_known,
  domain_known,
  operator_deprecated,
  attribute_known,
  attribute_required,
  attribute_type,
  attribute_once,
  input_count,
  input_required,
  output_count,
  output_required,
  attributes_together,
  attribute_value,
  attributes_usable,
  surplus_values,
  type_admitted,
  type_bound,
  constant_type,
  inference,
  declared_type,
  declared_shape,
  actual_declared,
  actual_inferred,
  numbers_finite,
  random_output,
  onnx_checker,
  onnx_checker_too,
  form_bound,
  form_reduced_scalar,
  form_lengths,
  form_output,
  form_class,
  form_epsilon,
  form_scalar_input,
  form_rotary,
  form_operator,
  form_shared_batch,
  form_signal,
  form_bias,
};

/// Whether row i of a table is the one of rule i, so that a rule finds its row.
template <typename Rows>
constexpr bool rows_in_order(const Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].rule) != i) return false;
  }
  return true;
}

struct RuleInfo {
  std::string code;
  Severity severity;
  std::string text;

  // Of a rule of one operator only:
  std::string op_type = {};
  std::string section = {};                             // of the operator's text: "attribute clip", "input W"
  std::vector<int> versions = {};                       // since_versions of the operator that have the rule
  std::vector<std::pair<int, std::string>> since = {};  // what the text goes on with from a version on

  /// The text as it is from this since_version of the operator on.
  std::string text_at(int version) const;
  /// The text of the newest version.
  std::string full_text() const;
};

/// The rules of enum Rule in its order.
std::span<const RuleInfo> general_rules();
const RuleInfo& rule_info(Rule rule);

/// Of a finding by the rule: that of the table, but for forms that are refused (form_watch.h) an error.
Severity severity_of(const RuleInfo& rule);

/// Whether the code is of a rule about a form that is taken all the same (opset/pages/forms.h).
bool is_form_code(std::string_view code);

/// Whether what breaks the rule keeps nodes from being judged by the others.
bool keeps_from_judging(std::string_view code);

/// Whether the finding says that ir_version or an opset of the model is newer than the newest known here: the
/// model is not supported, not invalid.
bool is_too_new(const Finding& finding, const onnx_io::Model& model);

}  // namespace grurun::opset
