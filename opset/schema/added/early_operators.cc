#include "opset/schema/added/experimental.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// An attribute as a value of the type of like.
std::string constant_of(const std::string& attribute, const std::string& like) {
  return attribute + "_ = Constant <value_float: float = @" + attribute + "> () " + attribute +
         " = CastLike(" + attribute + "_, " + like + ") ";
}

std::string affine_body(const BodyNode&) {
  return constant_of("alpha", "X") + constant_of("beta", "X") +
         "scaled = Mul(X, alpha) Y = Add(scaled, beta)";
}

std::string parametric_softplus_body(const BodyNode&) {
  return constant_of("alpha", "X") + constant_of("beta", "X") +
         "scaled = Mul(X, beta) curve = Softplus(scaled) Y = Mul(curve, alpha)";
}

std::string scaled_tanh_body(const BodyNode&) {
  return constant_of("alpha", "input") + constant_of("beta", "input") +
         "scaled = Mul(input, beta) curve = Tanh(scaled) output = Mul(curve, alpha)";
}

std::string scale_body(const BodyNode&) {
  return constant_of("scale", "input") + "output = Mul(input, scale)";
}

std::string image_scaler_body(const BodyNode& node) {
  if (!node.gives("bias")) return scale_body(node);
  return constant_of("scale", "input") +
         "list = Constant <value_floats: floats = @bias> () of_type = CastLike(list, input) "
         "plane = Constant <value_ints = [1, 2]> () bias = Unsqueeze(of_type, plane) scaled = Mul(input, "
         "scale) "
         "output = Add(scaled, bias)";
}

// border: left, top, right, bottom; scale: height and width, instead of right and bottom.
std::string crop_body(const BodyNode& node) {
  const std::vector<std::int64_t> border = node.integers("border"), scale = node.integers("scale");
  if (border.size() != 4 || (!scale.empty() && scale.size() != 2))
    fail_invalid("border and scale are of {} and {} numbers", border.size(), scale.size());
  constexpr std::int64_t far = std::int64_t{1} << 40;
  for (const std::vector<std::int64_t>& list : {border, scale})
    for (const std::int64_t size : list)
      if (size < 0 || size > far) fail_invalid("border and scale must be at least 0, but hold {}", size);
  const auto end = [&](std::size_t axis) {
    if (!scale.empty()) return border[1 - axis] + scale[axis];
    const std::int64_t left_out = border[3 - axis];
    return left_out == 0 ? far : -left_out;
  };
  return "begins = Constant <value_ints = " + list_text({border[1], border[0]}) +
         "> () ends = Constant <value_ints = " + list_text({end(0), end(1)}) +
         "> () axes = Constant <value_ints = [2, 3]> () output = Slice(input, begins, ends, axes)";
}

std::string simplified_body(const BodyNode& node) {
  std::string nodes =
      "Y = RMSNormalization <axis: int = @axis, epsilon: float = @epsilon, stash_type: int = "
      "@stash_type> (X, scale) ";
  if (!node.wants("inv_std_var")) return nodes;
  if (node.integer("axis") != -1) fail_unsupported("inv_std_var of other axes than the last");
  return nodes +
         "wide = Cast <to = 1> (X) squares = Mul(wide, wide) last = Constant <value_ints = [-1]> () "
         "variance = ReduceMean(squares, last) small = Constant <value_float: float = @epsilon> () "
         "some = Add(variance, small) deviation = Sqrt(some) inv_std_var = Reciprocal(deviation) ";
}

constexpr const char* early_floats = "T: float16, float, double";

constexpr AddedOperator early_rows[] = {
    {"Affine", "Y = alpha * X + beta.", "alpha: float = 1; beta: float = 0", "X: T", "Y: T", early_floats,
     affine_body},
    {"Crop",
     "Images without a border, given as left, top, right, bottom; with a scale, the height and the width "
     "that are "
     "left.",
     "border: ints!; scale: ints", "input: T", "output: T", early_floats, crop_body},
    {"ImageScaler", "output = scale * input + bias, a number for each channel.",
     "bias: floats; scale: float = 1", "input: T", "output: T", early_floats, image_scaler_body},
    {"ParametricSoftplus", "Y = alpha * Softplus(beta * X).", "alpha: float!; beta: float!", "X: T", "Y: T",
     early_floats, parametric_softplus_body},
    {"Scale", "output = scale * input.", "scale: float = 1", "input: T", "output: T", early_floats,
     scale_body},
    {"ScaledTanh", "output = alpha * Tanh(beta * input).", "alpha: float!; beta: float!", "input: T",
     "output: T", early_floats, scaled_tanh_body},
    {"SimplifiedLayerNormalization", "RMSNormalization, as ONNX Runtime has it in every opset.",
     "axis: int = -1; epsilon: float = 1e-5; stash_type: int = 1", "X: T; scale: V", "Y: V; inv_std_var: U?",
     "T: float16, float, double, bfloat16; U: float, double; V: float16, float, double, bfloat16",
     simplified_body},
};

}  // namespace

std::span<const AddedOperator> early_operators() {
  return early_rows;
}

}  // namespace grurun::opset
