#include <fmt/format.h>

#include <cmath>

#include "opset/schema/added/microsoft.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

std::string gelu_body(const BodyNode&) {
  return "Y = Gelu(X)";
}

std::string bias_gelu_body(const BodyNode&) {
  return "sum = Add(A, B) C = Gelu(sum)";
}

std::string fast_gelu_body(const BodyNode& node) {
  if (!node.has("bias")) return "Y = Gelu <approximate = \"tanh\"> (X)";
  return "sum = Add(X, bias) Y = Gelu <approximate = \"tanh\"> (sum)";
}

std::string quick_gelu_body(const BodyNode&) {
  return "a = Constant <value_float: float = @alpha> () b = CastLike(a, X) s = Mul(X, b) g = Sigmoid(s) "
         "Y = Mul(X, g)";
}

constexpr AddedOperator activation_rows[] = {
    {"BiasGelu", "C = Gelu(A + B), B [hidden_size] along the last axis.", "", "A: T; B: T", "C: T",
     "T: float16, float, double, bfloat16", bias_gelu_body},
    {"FastGelu", "Y = Gelu(X + bias), approximated by tanh; bias along the last axis.", "", "X: T; bias: T?",
     "Y: T", "T: float16, float, double, bfloat16", fast_gelu_body},
    {"Gelu", "Y = 0.5 * X * (1 + Erf(X / Sqrt(2))).", "", "X: T", "Y: T",
     "T: float16, float, double, bfloat16", gelu_body},
    {"QuickGelu", "Y = X * Sigmoid(alpha * X).", "alpha: float = 1.702", "X: T", "Y: T",
     "T: float16, float, double, bfloat16", quick_gelu_body},
};

float parameter(const std::vector<float>& parameters, std::size_t index, float otherwise) {
  return index < parameters.size() ? parameters[index] : otherwise;
}

}  // namespace

std::string activation_nodes(const std::string& name, const std::vector<float>& parameters,
                             std::string_view in, std::string_view out) {
  const auto apply = [&](const std::string& attributes) {
    return fmt::format("{} = {} {} ({}) ", out, name, attributes, in);
  };
  const auto of_alpha = [&](float alpha) {
    return apply(fmt::format("<alpha: float = {:e}>", parameter(parameters, 0, alpha)));
  };
  for (const float number : parameters)
    if (!std::isfinite(number)) fail_unsupported("a parameter of {} that is not finite", name);
  if (name.empty()) return fmt::format("{} = Identity({}) ", out, in);
  if (name == "Relu" || name == "Sigmoid" || name == "Tanh" || name == "Softplus" || name == "Softsign")
    return apply("");
  if (name == "LeakyRelu") return of_alpha(0.01F);
  if (name == "Elu" || name == "ThresholdedRelu") return of_alpha(1);
  if (name == "Selu" || name == "HardSigmoid") {
    const bool selu = name == "Selu";
    return apply(fmt::format("<alpha: float = {:e}, {}: float = {:e}>",
                             parameter(parameters, 0, selu ? 1.67326319F : 0.2F), selu ? "gamma" : "beta",
                             parameter(parameters, 1, selu ? 1.05070102F : 0.5F)));
  }
  if (name == "HardSwish") return apply("");
  if (name == "Clip" && parameters.size() == 2) {
    return fmt::format(
        "lo = Constant <value_float: float = {:e}> () hi = Constant <value_float: float = {:e}> () "
        "low = CastLike(lo, {}) high = CastLike(hi, {}) {} = Clip({}, low, high) ",
        parameters[0], parameters[1], in, in, out, in);
  }
  fail_unsupported("the activation '{}' is not one that is known here", name);
}

std::vector<onnx::OpSchema> microsoft_activation_schemas() {
  return schemas_of(activation_rows, "com.microsoft");
}

}  // namespace grurun::opset
