#include "opset/summary/flops.h"

#include <vector>

#include "opset/pages/page.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/summary/flop_dims.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;
using Count = FlopTotal;
using Dims = FlopDims;

// Y [..., M, N] sums K terms each, K being the last axis of A.
Count matmul_flops(const Node& node, const std::map<std::string, ValueType>& types) {
  const Dims A = input_dims(node, 0, types);
  if (!A || A->empty()) return std::nullopt;
  return with_factors(output_dims(node, types), {2, A->back()});
}

Count gemm_flops(const Node& node, const std::map<std::string, ValueType>& types) {
  const Dims A = input_dims(node, 0, types);
  if (!A || A->size() != 2) return std::nullopt;
  const onnx_io::Attribute* transposed = node.find_attribute("transA");
  const bool trans_A = transposed != nullptr && transposed->i != 0;
  return with_factors(output_dims(node, types), {2, trans_A ? A->front() : A->back()});
}

// W [M, C/group, kernel...]: each element of Y sums a term for each element of one of its M filters.
Count conv_flops(const Node& node, std::size_t weight, const std::map<std::string, ValueType>& types) {
  const Dims W = input_dims(node, weight, types);
  const Dims Y = output_dims(node, types);
  if (!W || !Y || W->size() < 2) return std::nullopt;
  std::vector<std::int64_t> factors = *Y;
  factors.insert(factors.end(), W->begin() + 1, W->end());
  factors.push_back(2);
  return product(factors);
}

// W [C, M/group, kernel...]: each element of X is multiplied with one of its C filters.
Count conv_transpose_flops(const Node& node, const std::map<std::string, ValueType>& types) {
  const Dims W = input_dims(node, 1, types);
  const Dims X = input_dims(node, 0, types);
  if (!W || !X || W->size() < 2) return std::nullopt;
  std::vector<std::int64_t> factors = *X;
  factors.insert(factors.end(), W->begin() + 1, W->end());
  factors.push_back(2);
  return product(factors);
}

// At each step and row each direction multiplies W [rows, input_size] and R [rows, hidden_size].
// DynamicQuantizeLSTM holds them transposed.
Count recurrent_flops(const Node& node, const std::map<std::string, ValueType>& types) {
  const Dims X = input_dims(node, input_X, types);
  const Dims W = input_dims(node, input_W, types);
  const Dims R = input_dims(node, input_R, types);
  if (!X || !W || !R || X->size() != 3 || W->size() != 3 || R->size() != 3) return std::nullopt;
  const Count of_W = product(*W);
  const Count of_R = product(*R);
  std::int64_t weights = 0;
  if (!of_W || !of_R || __builtin_add_overflow(*of_W, *of_R, &weights)) return std::nullopt;
  return product({2, (*X)[0], (*X)[1], weights});
}

// Each token goes through k experts: W1 [experts, rows, hidden], W2 [experts, hidden, inter].
Count expert_flops(const Node& node, const std::map<std::string, ValueType>& types) {
  const Dims X = input_dims(node, 0, types);
  const bool quantized = node.op_type == "QMoE";  // whose weights are packed, and have scales
  const Dims W1 = input_dims(node, 2, types), W2 = input_dims(node, quantized ? 5 : 4, types);
  if (!X || X->empty() || !W1 || !W2 || W1->size() != 3 || W2->size() != 3 || X->back() == 0)
    return std::nullopt;
  const onnx_io::Attribute *k = node.find_attribute("k"), *fusion = node.find_attribute("swiglu_fusion");
  const onnx_io::Attribute* activation = node.find_attribute("activation_type");
  const bool gated = activation != nullptr && activation->s == "swiglu";
  const bool fused = gated && fusion != nullptr && fusion->i != 0;
  const std::int64_t rows = (*W1)[1], inter = fused ? rows / 2 : rows;
  const Count first = product({rows, X->back(), gated && !fused ? 2 : 1}),
              second = product({inter, X->back()});
  const Count all = with_factors(X, {k == nullptr ? 1 : k->i});
  std::int64_t each = 0;
  if (!first || !second || !all || __builtin_add_overflow(*first, *second, &each)) return std::nullopt;
  return product({2, *all / X->back(), each});
}

}  // namespace

bool has_flops(const Node& node) {
  return flops_of(node) != Flops::uncounted;
}

Count node_flops(const Node& node, const std::map<std::string, ValueType>& types) {
  switch (flops_of(node)) {
    case Flops::uncounted:
      return std::nullopt;
    case Flops::matmul:
      return matmul_flops(node, types);
    case Flops::gemm:
      return gemm_flops(node, types);
    case Flops::convolution:
      return conv_flops(node, 1, types);
    case Flops::quantized_convolution:
      return conv_flops(node, 3, types);
    case Flops::transposed_convolution:
      return conv_transpose_flops(node, types);
    case Flops::recurrent:
      return recurrent_flops(node, types);
    case Flops::attention:
      return attention_flops(node, types);
    case Flops::experts:
      return expert_flops(node, types);
  }
  return std::nullopt;
}

}  // namespace grurun::opset
