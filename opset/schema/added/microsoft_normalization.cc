#include <fmt/format.h>

#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

// input + skip + bias, which is an output of its own.
std::string skip_sum(const BodyNode& node) {
  std::string nodes =
      node.has("bias") ? "both = Add(input, skip) sum = Add(both, bias) " : "sum = Add(input, skip) ";
  if (node.wants("input_skip_bias_sum")) nodes += "input_skip_bias_sum = Identity(sum) ";
  return nodes;
}

// Outputs that the node does not have are not named: ONNX's inference would look for their types.
std::string skip_layer_normalization_body(const BodyNode& node) {
  const bool all = node.wants("inv_std_var");
  return skip_sum(node) +
         fmt::format("output{} = LayerNormalization <axis = -1, epsilon: float = @epsilon> (sum, gamma{})",
                     all                  ? ", mean, inv_std_var"
                     : node.wants("mean") ? ", mean"
                                          : "",
                     node.has("beta") ? ", beta" : "");
}

std::string skip_simplified_body(const BodyNode& node) {
  std::string nodes =
      skip_sum(node) + "output = RMSNormalization <axis = -1, epsilon: float = @epsilon> (sum, gamma) ";
  if (node.wants("inv_std_var")) {
    nodes +=
        "wide = Cast <to = 1> (sum) squares = Mul(wide, wide) last = Constant <value_ints = [-1]> () "
        "variance = ReduceMean(squares, last) small = Constant <value_float: float = @epsilon> () "
        "some = Add(variance, small) deviation = Sqrt(some) inv_std_var = Reciprocal(deviation) ";
  }
  return nodes;
}

constexpr AddedOperator normalization_rows[] = {
    {"SkipLayerNormalization",
     "output = LayerNormalization(input + skip + bias, gamma, beta) over the last axis; skip may lack the "
     "batch "
     "axis or have one row in it.",
     "epsilon: float = 1e-12", "input: T; skip: T; gamma: T; beta: T?; bias: T?",
     "output: T; mean: U?; inv_std_var: U?; input_skip_bias_sum: T?",
     "T: float, double, float16, bfloat16; U: float", skip_layer_normalization_body},
    {"SkipSimplifiedLayerNormalization",
     "output = RMSNormalization(input + skip + bias, gamma) over the last axis.", "epsilon: float = 1e-12",
     "input: T; skip: T; gamma: T; bias: T?", "output: T; mean: U?; inv_std_var: U?; input_skip_bias_sum: T?",
     "T: float, double, float16, bfloat16; U: float", skip_simplified_body},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_normalization_schemas() {
  return schemas_of(normalization_rows, "com.microsoft");
}

}  // namespace grurun::opset
