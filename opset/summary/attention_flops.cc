#include "opset/summary/flop_dims.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;
using Types = std::map<std::string, ValueType>;

// Which inputs of an operator say how many queries and keys there are.
struct AttentionInputs {
  std::string_view domain, op_type;
  int weights = -1;    // query, key and value are input 0 times these, [width, columns]
  int past = -1;       // keys before: of rank 4 along axis 2, of rank 5 along axis 3
  bool keeps = false;  // keys are those of input 1 along axis 1, or axis 2 where heads stand apart
};

constexpr AttentionInputs attentions[] = {
    {"", "Attention", -1, 4, true},
    {"com.microsoft", "Attention", 1, 4},
    {"com.microsoft", "GroupQueryAttention", -1, -1, true},
    {"com.microsoft", "MultiHeadAttention", -1, 6, true},
    {"com.microsoft", "QAttention", 1, 8},
};

bool given(const Node& node, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < node.inputs.size() &&
         !node.inputs[static_cast<std::size_t>(index)].empty();
}

// How many keys each query sees.
FlopTotal key_count(const Node& node, const AttentionInputs& of, const Types& types, std::int64_t length) {
  std::int64_t keys = length;
  if (of.keeps && given(node, 1)) {
    const FlopDims K = input_dims(node, 1, types);
    if (!K || K->size() < 3) return std::nullopt;
    keys = (*K)[K->size() == 4 ? 2 : 1];
  }
  if (of.op_type == "GroupQueryAttention" && given(node, 3)) return std::nullopt;  // which values alone say
  if (!given(node, of.past)) return keys;
  const FlopDims past = input_dims(node, static_cast<std::size_t>(of.past), types);
  if (!past || past->size() < 4) return std::nullopt;
  if (__builtin_add_overflow(keys, (*past)[past->size() - 2], &keys)) return std::nullopt;
  return keys;
}

// 2 for each element of queries and output and each key.
FlopTotal products_of(const Node& node, const AttentionInputs& of, const Types& types,
                      const std::vector<std::int64_t>& Q) {
  const FlopDims Y = output_dims(node, types);
  if (!Y || Y->size() < 3) return std::nullopt;
  const bool apart = Q.size() == 4;
  const std::int64_t length = Q[apart ? 2 : 1];
  const FlopTotal keys = key_count(node, of, types, length), out = product(*Y);
  // Heads are as wide in the output as in the query, but where values are of another size; the output of a
  // packed input, or of one that weights come to, stands for the query.
  const bool is_query = of.weights < 0 && Q.size() < 5 && (given(node, 1) || of.op_type == "Attention");
  const FlopTotal in = is_query ? product(Q) : out;
  std::int64_t elements = 0;
  if (!keys || !out || !in || __builtin_add_overflow(*in, *out, &elements)) return std::nullopt;
  return product({2, elements, *keys});
}

}  // namespace

FlopTotal attention_flops(const Node& node, const Types& types) {
  for (const AttentionInputs& of : attentions) {
    if (of.domain != node.domain || of.op_type != node.op_type) continue;
    const FlopDims Q = input_dims(node, 0, types);
    if (!Q || Q->size() < 3) return std::nullopt;
    FlopTotal total = products_of(node, of, types, *Q);
    if (of.weights < 0 || !total) return total;
    const FlopDims W = input_dims(node, static_cast<std::size_t>(of.weights), types);
    if (!W || W->size() != 2) return std::nullopt;
    const FlopTotal projected = with_factors(Q, {2, (*W)[1]});
    std::int64_t sum = 0;
    if (!projected || __builtin_add_overflow(*total, *projected, &sum)) return std::nullopt;
    return sum;
  }
  return std::nullopt;
}

}  // namespace grurun::opset
