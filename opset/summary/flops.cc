#include "opset/summary/flops.h"

#include <vector>

#include "opset/pages/page.h"
#include "opset/recurrent/recurrent_form.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;
using Count = std::optional<std::int64_t>;
using Dims = std::optional<std::vector<std::int64_t>>;

Count product(const std::vector<std::int64_t>& factors) {
  std::int64_t total = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(total, factor, &total)) return std::nullopt;
  }
  return total;
}

Dims dims_of(const std::string& name, const std::map<std::string, ValueType>& types) {
  const auto found = types.find(name);
  if (found == types.end() || !found->second.shape) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const Dim& dim : *found->second.shape) {
    if (!dim.value) return std::nullopt;
    dims.push_back(*dim.value);
  }
  return dims;
}

Dims input_dims(const Node& node, std::size_t index, const std::map<std::string, ValueType>& types) {
  return index < node.inputs.size() ? dims_of(node.inputs[index], types) : std::nullopt;
}

Dims output_dims(const Node& node, const std::map<std::string, ValueType>& types) {
  return node.outputs.empty() ? std::nullopt : dims_of(node.outputs[0], types);
}

Count with_factors(const Dims& dims, std::initializer_list<std::int64_t> factors) {
  if (!dims) return std::nullopt;
  std::vector<std::int64_t> all = *dims;
  all.insert(all.end(), factors);
  return product(all);
}

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
  }
  return std::nullopt;
}

}  // namespace grurun::opset
