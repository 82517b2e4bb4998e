// Operators of com.microsoft on integers of 8 bits.
#include <limits>

#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

Tensor one_number(float value) {
  return Tensor::from<float>({}, {value});
}

Tensor zero_at(DType type, int value) {
  return type == DType::int8 ? Tensor::from<std::int8_t>({1}, {static_cast<std::int8_t>(value - 128)})
                             : Tensor::from<std::uint8_t>({1}, {static_cast<std::uint8_t>(value)});
}

/// Every number of the type once.
Tensor every_number(DType type, const Shape& shape) {
  Tensor out(type, shape);
  auto* bytes = static_cast<unsigned char*>(out.mutable_raw());
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<unsigned char>(i);
  return out;
}

std::vector<BodyCase> pairs(BodyInputs& in) {
  const DType type = in.dtype("T");
  const auto made = [&](const char* note, Tensor a, Tensor b, float a_scale, float b_scale, float c_scale) {
    return BodyCase{
        .note = note,
        .inputs = {std::move(a), one_number(a_scale), zero_at(type, 3), std::move(b), one_number(b_scale),
                   zero_at(type, 200), one_number(c_scale), zero_at(type, 90)}};
  };
  const auto any = [&](const Shape& shape) { return in.any(type, shape); };
  std::vector<BodyCase> out = {
      made("all pairs", every_number(type, {256, 1}), every_number(type, {256}), 0.0173F, 0.31F, 0.0907F),
      made("saturated", every_number(type, {256}), every_number(type, {256, 1}), 4.1F, 0.7F, 0.013F),
      made("ties", every_number(type, {256, 1}), every_number(type, {256}), 0.5F, 0.25F, 1),
      made("of one shape", any({3, 700}), any({3, 700}), 0.1F, 0.2F, 0.3F),
      made("A is one number", any({}), any({1, 1100}), 0.1F, 0.2F, 0.3F),
      made("B is one number", any({1100}), any({1, 1}), 0.1F, 0.2F, 0.3F),
      made("both are", any({1}), any({}), 0.1F, 0.2F, 0.3F),
      made("short rows", any({500, 3}), any({500, 1}), 0.1F, 0.2F, 0.3F),
      made("channels", any({2, 1, 40}), any({5, 1}), 0.1F, 0.2F, 0.3F),
      made("channels of both", any({2, 1, 40, 7}), any({5, 1, 7}), 0.1F, 0.2F, 0.3F),
      made("empty", any({0, 3}), any({1, 3}), 0.1F, 0.2F, 0.3F),
      made("a scale of 0", every_number(type, {256, 1}), every_number(type, {256}), 0.5F, -0.25F, 0),
      made("infinite scales", every_number(type, {256, 1}), every_number(type, {256}),
           std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 1)};
  BodyCase plain = made("no zero points", any({4, 5}), any({4, 1}), 0.1F, 0.2F, 0.3F);
  for (const std::size_t zero_point : {2, 5, 7}) plain.inputs[zero_point] = Value();
  out.push_back(std::move(plain));
  return out;
}

std::vector<BodyCase> functions(BodyInputs& in, const Attributes& other) {
  const DType type = in.dtype("T");
  std::vector<BodyCase> out;
  const auto add = [&](const char* note, Tensor x, float x_scale, float y_scale,
                       const Attributes& attributes) {
    out.push_back({.note = note,
                   .attributes = attributes,
                   .inputs = {std::move(x), one_number(x_scale), zero_at(type, 120), one_number(y_scale),
                              zero_at(type, 7)}});
  };
  add("every number", every_number(type, {256}), 0.0391F, 0.00391F, {});
  add("by a table", in.any(type, {3, 200}), 0.0391F, 0.00391F, {});
  add("attributes", in.any(type, {3, 200}), 0.21F, 0.05F, other);
  add("saturated", in.any(type, {3, 200}), 40, 0.0001F, {});
  add("a scale of 0", in.any(type, {3, 200}), 0.1F, 0, {});
  add("an infinite scale", every_number(type, {256}), std::numeric_limits<float>::infinity(), 1, {});
  add("scalar", in.any(type, {}), 0.1F, 0.1F, {});
  add("empty", in.any(type, {2, 0}), 0.1F, 0.1F, {});
  out.push_back({.note = "no zero points",
                 .inputs = {in.any(type, {300}), one_number(0.1F), Value(), one_number(0.01F), Value()}});
  return out;
}

std::vector<BodyCase> quantized_sigmoid(BodyInputs& in) {
  return functions(in, {});
}
std::vector<BodyCase> quantized_leaky_relu(BodyInputs& in) {
  return functions(in, {attr("alpha", -0.7F)});
}

}  // namespace

std::vector<BodyRow> quantized_body_rows() {
  return {{"com.microsoft.QLinearAdd", 0, pairs},
          {"com.microsoft.QLinearMul", 0, pairs},
          {"com.microsoft.QLinearLeakyRelu", 0, quantized_leaky_relu},
          {"com.microsoft.QLinearSigmoid", 0, quantized_sigmoid}};
}

}  // namespace grurun::engine::testing
