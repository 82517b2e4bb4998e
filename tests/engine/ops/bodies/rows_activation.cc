// Element-wise operators.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

const Shape shape{3, 17};

// One input "T", once with the schema's defaults and once with other attribute values.
std::vector<BodyCase> unary(BodyInputs& in, Attributes other) {
  const DType type = in.dtype("T");
  std::vector<BodyCase> out = {{.note = "defaults", .inputs = {in.with_specials(type, shape)}},
                               {.note = "scalar", .inputs = {in.uniform(type, Shape{})}},
                               {.note = "empty", .inputs = {in.uniform(type, Shape{0, 2})}}};
  if (!other.empty()) {
    out.push_back(
        {.note = "attributes", .attributes = std::move(other), .inputs = {in.with_specials(type, shape)}});
  }
  return out;
}

std::vector<BodyCase> plain(BodyInputs& in) {
  return unary(in, {});
}
std::vector<BodyCase> alpha(BodyInputs& in) {
  return unary(in, {attr("alpha", 0.7f)});
}
std::vector<BodyCase> celu(BodyInputs& in) {
  std::vector<BodyCase> out = alpha(in);
  if (in.since_version() == 12) out[1].differs = "the body's constants have rank 1, and so has its result";
  return out;
}
std::vector<BodyCase> selu(BodyInputs& in) {
  return unary(in, {attr("alpha", 0.7f), attr("gamma", 1.25f)});
}
std::vector<BodyCase> hard_sigmoid(BodyInputs& in) {
  return unary(in, {attr("alpha", 0.3f), attr("beta", 0.4f)});
}
// The body's 1/6 is an attribute of HardSigmoid, a float.
std::vector<BodyCase> hard_swish(BodyInputs& in) {
  return computed_in(plain(in), DType::float32);
}
std::vector<BodyCase> gelu(BodyInputs& in) {
  // The body's 0.044715 is a float.
  return computed_in(unary(in, {attr("approximate", "tanh")}), DType::float32);
}

std::vector<BodyCase> shrink(BodyInputs& in) {
  const std::string& type = in.type("T");
  const float bias = type.starts_with("tensor(int") ? 2.0f : 1.5f;  // the body makes an integer of it first
  return differing(unary(in, {attr("lambd", 1.5f), attr("bias", bias)}), type.starts_with("tensor(uint"),
                   "the body negates lambd in the type of the input, and Neg takes no unsigned integers");
}

std::vector<BodyCase> clip(BodyInputs& in) {
  const DType type = in.dtype("T");
  const auto bound = [&](double value) { return in.uniform(type, Shape{}, value, value); };
  const auto x = [&] { return in.with_specials(type, shape, 0, 9); };
  std::vector<BodyCase> out = {{.note = "min", .inputs = {x(), bound(3)}},
                               {.note = "max", .inputs = {x(), Value(), bound(6)}},
                               {.note = "both", .inputs = {x(), bound(3), bound(6)}},
                               {.note = "min above max", .inputs = {x(), bound(6), bound(3)}}};
  out = differing(std::move(out), type == DType::bfloat16,
                  "the body selects by Where-9, which takes no bfloat16");
  out.push_back({.note = "no bounds", .inputs = {x()}});
  return out;
}

std::vector<BodyCase> prelu(BodyInputs& in) {
  const DType type = in.dtype("T");
  return {{.note = "same shape", .inputs = {in.with_specials(type, shape), in.uniform(type, shape)}},
          {.note = "broadcast", .inputs = {in.with_specials(type, shape), in.uniform(type, Shape{17})}},
          {.note = "scalar", .inputs = {in.with_specials(type, shape), in.uniform(type, Shape{})}}};
}

std::vector<BodyCase> swiglu(BodyInputs& in) {
  const DType type = in.dtype("T");
  return {{.note = "default", .inputs = {in.with_specials(type, shape), in.uniform(type, shape)}},
          {.note = "alpha",
           .attributes = {attr("alpha", 1.7f)},
           .inputs = {in.uniform(type, shape), in.uniform(type, shape)}},
          {.note = "scalars", .inputs = {in.uniform(type, Shape{}), in.uniform(type, Shape{})}},
          {.note = "more than a block",
           .inputs = {in.uniform(type, Shape{3, 400}), in.uniform(type, Shape{3, 400})}}};
}

std::vector<BodyCase> comparison(BodyInputs& in) {
  const DType type = in.dtype("T");
  return {
      {.note = "few values", .inputs = {in.with_specials(type, shape, 0, 2), in.uniform(type, shape, 0, 2)}},
      {.note = "against themselves with NaN",
       .inputs = {in.with_specials(type, Shape{5, 1}), in.with_specials(type, Shape{5})}},
      {.note = "all bits", .inputs = {in.any(type, shape), in.any(type, Shape{17})}}};
}

}  // namespace

std::vector<BodyRow> activation_body_rows() {
  return {{"Celu", 2, celu},
          {"Clip", 0, clip},
          {"Elu", 2, alpha},
          {"Gelu", 2, gelu},
          {"GreaterOrEqual", 0, comparison},
          {"HardSigmoid", 1, hard_sigmoid},
          {"HardSwish", 2, hard_swish},
          {"LeakyRelu", 1, alpha},
          {"LessOrEqual", 0, comparison},
          {"Mish", 2, plain},
          {"PRelu", 0, prelu},
          {"Relu", 0, plain},
          {"Selu", 3, selu},
          {"Shrink", 0, shrink},
          {"Softplus", 2, plain},
          {"Softsign", 1, plain},
          {"SwiGLU", 2, swiglu},
          {"Swish", 2, alpha},
          {"ThresholdedRelu", 0, alpha}};
}

}  // namespace grurun::engine::testing
