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
    return BodyCase{.note = note,
                    .inputs = {std::move(a), one_number(a_scale), zero_at(type, 3).reshaped({}), std::move(b),
                               one_number(b_scale), zero_at(type, 200).reshaped({}), one_number(c_scale),
                               zero_at(type, 90).reshaped({})}};
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

BodyCase pooled_case(DType type, const char* note, Tensor x, float x_scale, float y_scale,
                     std::int64_t channels_last = 0) {
  return {.note = note,
          .attributes = {attr("channels_last", channels_last)},
          .inputs = {std::move(x), one_number(x_scale), zero_at(type, 120), one_number(y_scale),
                     zero_at(type, 7)}};
}

std::vector<BodyCase> quantized_means(BodyInputs& in) {
  const DType type = in.dtype("T");
  const auto made = [&](const char* note, const Shape& shape, float x_scale, float y_scale,
                        std::int64_t channels_last = 0) {
    return pooled_case(type, note, in.any(type, shape), x_scale, y_scale, channels_last);
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return {made("planes", {2, 50, 7, 9}, 0.0173F, 0.0031F),
          made("scales of few digits, half of the means ties", {1, 600, 2}, 0.5F, 0.5F),
          made("ties but for roundings", {1, 600, 2}, 0.1F, 0.1F),
          made("ties but for roundings, last", {1, 2, 600}, 0.7F, 0.7F, 1),
          made("one number each", {3, 40, 1, 1}, 0.3F, 0.1F),
          made("no further axis", {3, 40}, 0.3F, 0.1F),
          made("no further axis, last", {3, 40}, 0.3F, 0.1F, 1),
          made("channels last", {2, 5, 7, 300}, 0.0173F, 0.0031F, 1),
          made("saturated", {2, 3, 5}, 40, 0.0001F),
          made("a scale of 0", {2, 3, 5}, 0.1F, 0),
          made("an infinite scale", {2, 3, 5}, infinity, 1),
          made("an infinite scale, last", {2, 5, 3}, -infinity, 1, 1),
          made("huge scales", {2, 3, 5}, 3e38F, 3e38F),
          made("tiny scales", {2, 3, 5}, 1e-44F, 1e-44F),
          made("empty", {0, 3, 5}, 0.1F, 0.1F),
          made("no channel, last", {2, 5, 0}, 0.1F, 0.1F, 1)};
}

std::vector<BodyCase> quantized_parts(BodyInputs& in) {
  const DType type = in.dtype("T8");
  const auto made = [&](const char* note, std::int64_t axis, const std::vector<Tensor>& parts,
                        const std::vector<float>& scales, DType of_parts) {
    BodyCase out{
        .note = note, .attributes = {attr("axis", axis)}, .inputs = {one_number(0.0907F), zero_at(type, 90)}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      out.inputs.emplace_back(parts[i]);
      out.inputs.emplace_back(one_number(scales[i]));
      out.inputs.emplace_back(zero_at(of_parts, i == 0 ? 90 : 17));
    }
    return out;
  };
  const auto any = [&](const Shape& shape) { return in.any(type, shape); };
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  const DType other = type == DType::int8 ? DType::uint8 : DType::int8;
  return {made("the same scale and others", 1, {any({2, 3, 100}), any({2, 1, 100}), any({2, 2, 100})},
               {0.0907F, 0.31F, 0.01F}, type),
          made("every number", 0, {every_number(type, {256}), every_number(type, {256})}, {0.0907F, 0.0909F},
               type),
          made("last axis", -1, {any({40, 3}), any({40, 5})}, {0.5F, 0.25F}, type),
          made("one part", 0, {any({300})}, {0.5F}, type),
          made("of another type", 0, {every_number(other, {256})}, {0.1F}, other),
          made("scales that nobody uses", 0, {any({300}), any({300}), any({300}), any({300})},
               {0, infinity, nan, -1}, type),
          made("an empty part", 1, {any({2, 0}), any({2, 3})}, {0.5F, 0.25F}, type),
          made("nothing", 1, {any({0, 4}), any({0, 3})}, {0.5F, 0.25F}, type)};
}

}  // namespace

std::vector<BodyRow> quantized_body_rows() {
  return {{"com.microsoft.QLinearAdd", 0, pairs},
          {"com.microsoft.QLinearMul", 0, pairs},
          {"com.microsoft.QLinearConcat", 0, quantized_parts},
          {"com.microsoft.QLinearGlobalAveragePool", 0, quantized_means},
          {"com.microsoft.QLinearLeakyRelu", 0, quantized_leaky_relu},
          {"com.microsoft.QLinearSigmoid", 0, quantized_sigmoid}};
}

}  // namespace grurun::engine::testing
