// MoE and QMoE: the weights of experts fit each other, the tokens and the router.
#include <algorithm>
#include <cstdint>
#include <string>

#include "opset/pages/microsoft_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// Of one projection: where its weights stand, and what it multiplies.
struct ExpertProjection {
  std::string name;  // fc1
  std::size_t weights, bias, scales, zero_points;
  std::int64_t bits;  // 0: they are no codes
  Size columns;
};

constexpr std::size_t no_such_input = 100;

ExpertProjection projection_of(const NodeFacts& facts, std::size_t number, const Size& columns) {
  static constexpr const char* names[] = {"fc1", "fc2", "fc3"};
  const std::string name = names[number];
  if (facts.op_type() == "MoE")
    return {name, 2 + 2 * number, 3 + 2 * number, no_such_input, no_such_input, 0, columns};
  const std::int64_t all = facts.int_attribute("expert_weight_bits", 4);
  const std::int64_t bits = facts.int_attribute((name + "_expert_weight_bits").c_str(), all);
  return {name, 2 + 3 * number, 4 + 3 * number, 3 + 3 * number, 11 + number, bits, columns};
}

// Returns how many rows the weights have.
Size check_projection(const NodeFacts& facts, const ExpertProjection& of, const Size& experts) {
  const Size rows = size_of(facts.shape(of.weights), 1), bits = count_of({of.columns, of.bits});
  const auto require = [&](std::size_t input, const Sizes& wanted, const char* why) {
    require_sizes(input_name(facts, input), facts.shape(input), wanted, why);
  };
  const Size packed = of.bits == 0 ? of.columns : bits && *bits % 8 == 0 ? Size(*bits / 8) : std::nullopt;
  require(of.weights, {experts, rows, packed}, "a matrix for each expert");
  require(of.bias, {experts, rows}, "a number for each row of the weights");
  if (of.bits == 0) return rows;
  if (!facts.has_input(of.scales)) fail_invalid("{} must be given", input_name(facts, of.scales));
  const std::int64_t size = std::max<std::int64_t>(0, facts.int_attribute("block_size", 0));
  if (size > 0 && of.columns && *of.columns % size != 0)
    fail_invalid("block_size is {}, but rows of {}_experts_weights have {} elements", size, of.name,
                 *of.columns);
  const Size blocks = size == 0 ? Size(1) : of.columns ? Size(*of.columns / size) : std::nullopt;
  const SymbolicShape* scales = facts.shape(of.scales);
  const bool of_rows = scales != nullptr && rank_of(*scales) == 2 && blocks.value_or(1) == 1;
  require(of.scales, of_rows ? Sizes{experts, rows} : Sizes{experts, rows, blocks}, "a scale for each block");
  const auto bytes = [&](const Size& count) {
    const Size all = count_of({count, of.bits});
    return all ? Size(*all / 8 + (*all % 8 == 0 ? 0 : 1)) : all;
  };
  require(of.zero_points, size > 0 ? Sizes{experts, rows, bytes(blocks)} : Sizes{experts, bytes(rows)},
          "codes as the weights'");
  return rows;
}

}  // namespace

void check_experts(const NodeFacts& facts) {
  const SymbolicShape* input = facts.shape(0);
  if (input != nullptr && rank_of(*input) != 2 && rank_of(*input) != 3)
    fail_invalid("input is {}, but must have 2 or 3 axes", to_string(*input));
  const Size hidden = input == nullptr ? std::nullopt : size_of(input, rank_of(*input) - 1);
  Size tokens;
  if (input != nullptr) {
    const Sizes sizes = sizes_of(*input);
    tokens = hidden == 0 ? Size(0) : count_of({sizes.begin(), sizes.end() - 1});
  }
  require_sizes("router_probs", facts.shape(1), {tokens, std::nullopt}, "a row for each token");
  const Size experts = size_of(facts.shape(1), 1);
  const std::int64_t k = facts.int_attribute("k", 1);
  if (experts && k > *experts) fail_invalid("k is {}, but there are {} experts", k, *experts);
  const onnx_io::Attribute* stated = facts.attribute("activation_type");
  const bool paired = stated != nullptr && stated->s == "swiglu";
  const bool apart = paired && facts.int_attribute("swiglu_fusion", 0) == 0;
  const Size rows = check_projection(facts, projection_of(facts, 0, hidden), experts);
  if (paired && !apart && rows && *rows % 2 != 0)
    fail_invalid("fc1_experts_weights has {} rows, no pairs", *rows);
  const Size inter = paired && !apart && rows ? Size(*rows / 2) : rows;
  if (apart) {
    const Size other = check_projection(facts, projection_of(facts, 2, hidden), experts);
    if (other && inter && *other != *inter)
      fail_invalid("fc3_experts_weights has {} rows, but fc1 {}", *other, *inter);
  }
  const Size last = check_projection(facts, projection_of(facts, 1, inter), experts);
  if (last && hidden && *last != *hidden)
    fail_invalid("fc2_experts_weights has {} rows, but input {}", *last, *hidden);
}

}  // namespace grurun::opset
