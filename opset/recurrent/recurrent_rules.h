// The rules that the text of GRU, RNN and LSTM states, version by version. A rule has the same number for all
// three: GRU023, RNN023 and LSTM023 are about W.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opset/findings/rules.h"
#include "opset/recurrent/recurrent_form.h"

namespace grurun::opset {

enum class RecurrentRule {
  attribute_known,
  attribute_type,
  attribute_once,
  direction,
  hidden_size,
  activation_count,
  activation_name,
  activation_parameters,
  clip,
  layout,
  input_forget,
  linear_before_reset,
  input_count,
  input_required,
  shape_of_X,
  shape_of_W,
  shape_of_R,
  shape_of_B,
  shape_of_sequence_lens,
  sequence_lens_range,
  shape_of_initial_h,
  shape_of_initial_c,
  shape_of_P,
  type_T,
  same_type,
  type_T1,
  output_count,
  output_required,
  output_Y,
  output_Y_h,
  output_Y_c,
  surplus_parameters,
  activation_case,
  misspelt_direction,
  output_sequence,
  surplus_activation,
  reset_bias,
  fixed_batch,
  one_state,
  nothing_used,
  swapped_axes,
  zero_length,
  no_hidden_size,
  batch_first,
};

/// What was found at one node.
struct RecurrentFinding {
  RecurrentRule rule;
  std::string section;  // empty: the rule's own
  std::string message;
};
using RecurrentFindings = std::vector<RecurrentFinding>;

/// The rule as one operator has it, "GRU", "RNN" or "LSTM". Throws Error(internal) where it has none.
const RuleInfo& recurrent_rule(const std::string& op_type, RecurrentRule rule);

bool is_error(const RecurrentForm& form, const RecurrentFinding& finding);

/// Throws Error(invalid_model) with the first error among them.
void require_no_errors(const RecurrentForm& form, const RecurrentFindings& findings);

/// For all_rules(): by operator, in the order of the codes.
std::vector<RuleInfo> make_recurrent_rules();

/// The rules of enum Rule in its order, then those of RNN, GRU and LSTM.
std::span<const RuleInfo> all_rules();

/// nullptr for an unknown code.
const RuleInfo* find_rule(std::string_view code);

}  // namespace grurun::opset
