#include "opset/pages/microsoft_rules.h"

#include <algorithm>

#include "tensor/error.h"

namespace grurun::opset {

std::optional<std::string> tokens_stated_once(const onnx_io::Node& node, int) {
  const onnx_io::Attribute *separators = node.find_attribute("separators"),
                           *token = node.find_attribute("tokenexp");
  for (const onnx_io::Attribute* stated : {separators, token})
    if (stated != nullptr && !stated->ref_attr_name.empty()) return std::nullopt;
  const bool parts = separators != nullptr && !separators->strings.empty();
  const bool matches = token != nullptr && !token->s.empty();
  if (parts != matches) return std::nullopt;
  return parts ? "separators and tokenexp are both stated: state one of them"
               : "neither separators nor tokenexp is stated: state one of them";
}

void check_dilated_state(const NodeFacts& facts) {
  const SymbolicShape *input = facts.shape(0), *weight = facts.shape(1);
  const bool last = facts.int_attribute("channels_last", 0) == 1;
  Sizes state;
  Size channels;
  if (input != nullptr) {
    if (last ? rank_of(*input) < 3 : rank_of(*input) != 3)
      fail_invalid("input is {}, but must have {} axes", to_string(*input), last ? "at least 3" : "3");
    state = sizes_of(*input);
    channels = last ? count_of({state.begin() + 2, state.end()}) : state[1];
  }
  require_sizes("weight", weight, {channels, 1, std::nullopt}, "a filter for each channel");
  require_sizes("bias", facts.shape(2), {channels}, "a number for each channel");
  const Size taps = size_of(weight, 2);
  if (taps && *taps < 1) fail_invalid("weight is {}: it has no taps", to_string(*weight));
  if (input == nullptr) return;
  state[last ? 1 : 2] = taps ? count_of({*taps - 1, facts.int_attribute("dilation", 1)}) : std::nullopt;
  require_sizes("past_state", facts.shape(3), state, "(k - 1) * dilation places of each channel");
}

void check_sparse_product(const NodeFacts& facts) {
  const SymbolicShape *A = facts.shape(0), *B = facts.shape(1);
  if (A == nullptr || B == nullptr || rank_of(*A) != 2 || rank_of(*B) < 2) return;
  const bool turns_a = facts.int_attribute("transA", 0) != 0, turns_b = facts.int_attribute("transB", 0) != 0;
  const Size columns = size_of(A, turns_a ? 0 : 1), rows = size_of(B, rank_of(*B) - (turns_b ? 1 : 2));
  if (columns && rows && *columns != *rows)
    fail_invalid("A {} and B {} do not multiply: {} columns against {} rows", to_string(*A), to_string(*B),
                 *columns, *rows);
}

void check_sequence_ends(const NodeFacts& facts) {
  const std::size_t input = facts.op_type() == "VarlenNGramHashMapping" ? 3 : 2;
  if (size_of(facts.shape(input), 0) == 0)
    fail_invalid("{} is empty, but must ascend from 0 to the number of tokens", input_name(facts, input));
}

}  // namespace grurun::opset
