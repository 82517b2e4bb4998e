#include "opset/recurrent/recurrent_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "opset/recurrent/recurrent_form.h"
#include "opset/recurrent/recurrent_schema.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// Which operators have a rule.
enum Having : unsigned { of_GRU = 1, of_RNN = 2, of_LSTM = 4, of_all = 7 };

struct RecurrentRow {
  RecurrentRule rule;
  int number;
  Severity severity;
  unsigned having;
  const char* section;
  const char* text;  // {rows}, {bias}, {functions}, {most_inputs}, {most_outputs}, {states}: of the operator
  const char* layout_text = "";  // what the text goes on with where the attribute layout exists
  int first = 1;                 // since_versions that have the rule
  int last = 1'000'000;
};

constexpr int first_layout = 14;
constexpr Severity error = Severity::error;
constexpr Severity warning = Severity::warning;
constexpr Severity note = Severity::note;

constexpr std::array recurrent_rows = {
    RecurrentRow{RecurrentRule::attribute_known, 1, error, of_all, "Attributes",
                 "an attribute is one that this version has"},
    RecurrentRow{RecurrentRule::attribute_type, 2, error, of_all, "Attributes",
                 "an attribute has the type that this version gives it"},
    RecurrentRow{RecurrentRule::attribute_once, 3, error, of_all, "Attributes", "an attribute is given once"},
    RecurrentRow{RecurrentRule::direction, 4, error, of_all, "attribute direction",
                 "direction is forward, reverse or bidirectional"},
    RecurrentRow{RecurrentRule::hidden_size, 5, error, of_all, "attribute hidden_size",
                 "hidden_size is not negative and the size that W, R, B{states} have"},
    RecurrentRow{RecurrentRule::activation_count, 6, error, of_all, "attribute activations",
                 "activations lists {functions}"},
    RecurrentRow{RecurrentRule::activation_name, 7, error, of_all, "attribute activations",
                 "activations are among Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, "
                 "HardSigmoid, "
                 "Elu, Softsign, Softplus"},
    RecurrentRow{
        RecurrentRule::activation_parameters, 8, error, of_all, "attribute activation_alpha",
        "Affine and ScaledTanh are given activation_alpha and activation_beta, for which nothing states a "
        "default"},
    RecurrentRow{RecurrentRule::clip, 9, error, of_all, "attribute clip", "clip is a positive number"},
    RecurrentRow{RecurrentRule::layout, 10, error, of_all, "attribute layout", "layout is 0 or 1", "",
                 first_layout},
    RecurrentRow{RecurrentRule::input_forget, 11, error, of_LSTM, "attribute input_forget",
                 "input_forget is 0 or 1"},
    RecurrentRow{RecurrentRule::linear_before_reset, 12, warning, of_GRU, "attribute linear_before_reset",
                 "linear_before_reset is 0 or 1 (any other number counts as 1)", "", 3},
    RecurrentRow{RecurrentRule::input_count, 20, error, of_all, "Inputs",
                 "there are 3 to {most_inputs} inputs"},
    RecurrentRow{RecurrentRule::input_required, 21, error, of_all, "Inputs", "X, W and R are not omitted"},
    RecurrentRow{RecurrentRule::shape_of_X, 22, error, of_all, "input X",
                 "X is [seq_length, batch_size, input_size]",
                 ", under layout 1 [batch_size, seq_length, input_size]"},
    RecurrentRow{RecurrentRule::shape_of_W, 23, error, of_all, "input W",
                 "W is [num_directions, {rows}, input_size]"},
    RecurrentRow{RecurrentRule::shape_of_R, 24, error, of_all, "input R",
                 "R is [num_directions, {rows}, hidden_size]"},
    RecurrentRow{RecurrentRule::shape_of_B, 25, error, of_all, "input B", "B is [num_directions, {bias}]"},
    RecurrentRow{RecurrentRule::shape_of_sequence_lens, 26, error, of_all, "input sequence_lens",
                 "sequence_lens is [batch_size]"},
    RecurrentRow{RecurrentRule::sequence_lens_range, 27, error, of_all, "input sequence_lens",
                 "each of sequence_lens is in 0 to seq_length"},
    RecurrentRow{RecurrentRule::shape_of_initial_h, 28, error, of_all, "input initial_h",
                 "initial_h is [num_directions, batch_size, hidden_size]",
                 ", under layout 1 [batch_size, num_directions, hidden_size]"},
    RecurrentRow{RecurrentRule::shape_of_initial_c, 29, error, of_LSTM, "input initial_c",
                 "initial_c is [num_directions, batch_size, hidden_size]",
                 ", under layout 1 [batch_size, num_directions, hidden_size]"},
    RecurrentRow{RecurrentRule::shape_of_P, 30, error, of_LSTM, "input P",
                 "P is [num_directions, 3*hidden_size]"},
    RecurrentRow{RecurrentRule::type_T, 40, error, of_all, "type constraint T",
                 "X, W, R, B{states_types} and the outputs are tensors of a type of T: {types}"},
    RecurrentRow{RecurrentRule::same_type, 41, error, of_all, "type constraint T",
                 "X, W, R, B{states_types} and the outputs have one type"},
    RecurrentRow{RecurrentRule::type_T1, 42, error, of_all, "type constraint T1",
                 "sequence_lens is tensor(int32)"},
    RecurrentRow{RecurrentRule::output_count, 50, error, of_all, "Outputs",
                 "there are at most {most_outputs} outputs"},
    RecurrentRow{RecurrentRule::output_required, 51, error, of_GRU, "output Y_h", "Y_h is not omitted", "", 1,
                 1},
    RecurrentRow{RecurrentRule::output_Y, 52, error, of_all, "output Y",
                 "Y has X's type and is [seq_length, num_directions, batch_size, hidden_size]",
                 ", under layout 1 [batch_size, seq_length, num_directions, hidden_size]"},
    RecurrentRow{RecurrentRule::output_Y_h, 53, error, of_all, "output Y_h",
                 "Y_h has X's type and is [num_directions, batch_size, hidden_size]",
                 ", under layout 1 [batch_size, num_directions, hidden_size]"},
    RecurrentRow{RecurrentRule::output_Y_c, 54, error, of_LSTM, "output Y_c",
                 "Y_c has X's type and is [num_directions, batch_size, hidden_size]",
                 ", under layout 1 [batch_size, num_directions, hidden_size]"},
    RecurrentRow{
        RecurrentRule::surplus_parameters, 60, warning, of_all, "attribute activation_alpha",
        "activation_alpha and activation_beta have no more values than there are functions that use one"},
    RecurrentRow{RecurrentRule::activation_case, 61, warning, of_all, "attribute activations",
                 "activations are spelt as in the text, letter case included"},
    RecurrentRow{RecurrentRule::misspelt_direction, 62, warning, of_GRU, "attribute direction",
                 "direction is not spelt \"foward\", which stands for forward in this version's default only",
                 "", 1, 1},
    RecurrentRow{RecurrentRule::output_sequence, 63, warning, of_all, "attribute output_sequence",
                 "output_sequence is 0 or 1, and 1 where Y is used (Y is optional if it is 0)", "", 1, 6},
    RecurrentRow{RecurrentRule::surplus_activation, 64, note, of_RNN, "attribute activations",
                 "activations lists one function for one direction, not the printed default of two"},
    RecurrentRow{RecurrentRule::reset_bias, 65, warning, of_GRU, "attribute linear_before_reset",
                 "linear_before_reset is 1 where B has a recurrent bias of the hidden gate, Rbh, of its own",
                 "", 3},
    RecurrentRow{RecurrentRule::fixed_batch, 66, warning, of_all, "input initial_h",
                 "a constant initial state or sequence_lens does not fix a batch size that X leaves open"},
    RecurrentRow{RecurrentRule::one_state, 67, warning, of_LSTM, "input initial_c",
                 "initial_h and initial_c are given together or not at all"},
    RecurrentRow{RecurrentRule::nothing_used, 68, warning, of_all, "Outputs", "an output is used"},
    RecurrentRow{
        RecurrentRule::swapped_axes, 69, warning, of_all, "input X",
        "the names of X's dimensions do not say batch where seq_length stands, nor time where batch_size "
        "stands"},
    RecurrentRow{RecurrentRule::zero_length, 70, warning, of_all, "input sequence_lens",
                 "no row has length 0, for which the text does not say what Y_h is"},
    RecurrentRow{RecurrentRule::no_hidden_size, 71, note, of_all, "attribute hidden_size",
                 "hidden_size is given, since some runtimes do not take it from R"},
    RecurrentRow{RecurrentRule::batch_first, 72, note, of_all, "attribute layout",
                 "layout is 0, since few runtimes have the other one", "", first_layout},
};

static_assert(rows_in_order(recurrent_rows));

unsigned having(const RecurrentForm& form) {
  const std::string_view op_type = form.op_type;
  return op_type == "GRU" ? of_GRU : op_type == "RNN" ? of_RNN : of_LSTM;
}

std::string count_of_functions(const RecurrentForm& form) {
  return fmt::format("{} function{}, {} if bidirectional", form.functions, form.functions == 1 ? "" : "s",
                     2 * form.functions);
}

// "tensor(float16), tensor(float) or tensor(double)": what the first version of the operator has.
std::string first_types(const SchemaInfo& schema) {
  return fmt::format("{}", fmt::join(schema.type_constraints.at(0).types, ", "));
}

std::string filled(const char* text, const RecurrentForm& form, const SchemaInfo& first) {
  return fmt::format(
      fmt::runtime(text), fmt::arg("rows", times_hidden_size(form.gates)),
      fmt::arg("bias", times_hidden_size(2 * form.gates)), fmt::arg("functions", count_of_functions(form)),
      fmt::arg("most_inputs", form.has_cell ? 8 : 6), fmt::arg("most_outputs", form.has_cell ? 3 : 2),
      fmt::arg("states", form.has_cell ? ", initial_h, initial_c and P" : " and initial_h"),
      fmt::arg("states_types", form.has_cell ? ", initial_h, initial_c, P" : ", initial_h"),
      fmt::arg("types", first_types(first)));
}

// What a later version adds to T: ", tensor(bfloat16)" from 22 on.
void add_types(RuleInfo& rule, const std::vector<SchemaInfo>& oldest_first) {
  for (std::size_t i = 1; i < oldest_first.size(); ++i) {
    const auto& before = oldest_first[i - 1].type_constraints.at(0).types;
    for (const std::string& type : oldest_first[i].type_constraints.at(0).types) {
      if (std::ranges::find(before, type) != before.end()) continue;
      rule.since.emplace_back(oldest_first[i].since_version, ", " + type);
    }
  }
}

RuleInfo make_rule(const RecurrentRow& row, const RecurrentForm& form,
                   const std::vector<SchemaInfo>& oldest_first) {
  RuleInfo rule{.code = fmt::format("{}{:03}", form.op_type, row.number),
                .severity = row.severity,
                .text = filled(row.text, form, oldest_first.front()),
                .op_type = form.op_type,
                .section = row.section};
  for (const SchemaInfo& schema : oldest_first) {
    if (schema.since_version < row.first || schema.since_version > row.last) continue;
    if (row.rule == RecurrentRule::nothing_used && schema.min_output > 0) continue;  // an error there
    rule.versions.push_back(schema.since_version);
  }
  if (*row.layout_text != '\0') rule.since.emplace_back(first_layout, row.layout_text);
  if (row.rule == RecurrentRule::type_T) add_types(rule, oldest_first);
  return rule;
}

std::vector<RuleInfo> general_and_recurrent_rules() {
  const std::span<const RuleInfo> general = general_rules();
  std::vector<RuleInfo> made(general.begin(), general.end());
  for (RuleInfo& rule : make_recurrent_rules()) made.push_back(std::move(rule));
  return made;
}

}  // namespace

std::vector<RuleInfo> make_recurrent_rules() {
  std::vector<RuleInfo> rules;
  for (const RecurrentForm& form : recurrent_forms()) {
    for (const RecurrentRow& row : recurrent_rows) {
      if ((row.having & having(form)) != 0) rules.push_back(make_rule(row, form, recurrent_schemas(form)));
    }
  }
  return rules;
}

const RuleInfo& recurrent_rule(const std::string& op_type, RecurrentRule rule) {
  const RecurrentRow& row = recurrent_rows.at(static_cast<std::size_t>(rule));
  const RuleInfo* found = find_rule(fmt::format("{}{:03}", op_type, row.number));
  if (found == nullptr) fail_internal("{} has no rule {}", op_type, row.number);
  return *found;
}

bool is_error(const RecurrentForm& form, const RecurrentFinding& finding) {
  return recurrent_rule(form.op_type, finding.rule).severity == Severity::error;
}

void require_no_errors(const RecurrentForm& form, const RecurrentFindings& findings) {
  for (const RecurrentFinding& finding : findings)
    if (is_error(form, finding)) fail_invalid("{}", finding.message);
}

std::span<const RuleInfo> all_rules() {
  static const std::vector<RuleInfo> rules = general_and_recurrent_rules();
  return rules;
}

const RuleInfo* find_rule(std::string_view code) {
  const auto rules = all_rules();
  const auto found = std::ranges::find(rules, code, &RuleInfo::code);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace grurun::opset
