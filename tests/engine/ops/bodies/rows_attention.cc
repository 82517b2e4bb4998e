// Attention in its forms.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

// A modifier graph: op of its one input and itself.
onnx_io::Graph with_itself(const char* op) {
  onnx_io::Graph body;
  body.name = "modifier";
  body.inputs = {{"x", ValueType{}}};
  onnx_io::Node node;
  node.op_type = op;
  node.inputs = {"x", "x"};
  node.outputs = {"y"};
  body.nodes.push_back(node);
  body.outputs = {{"y", ValueType{}}};
  return body;
}

std::vector<BodyCase> flex_attention(BodyInputs& in) {
  const DType type = in.dtype("T1");
  const auto heads = [&](std::int64_t count, std::int64_t length, std::int64_t size) {
    return Value(in.uniform(type, Shape{2, count, length, size}, -1, 1));
  };
  std::vector<BodyCase> out = {
      {.note = "defaults", .inputs = {heads(3, 4, 6), heads(3, 5, 6), heads(3, 5, 7)}},
      {.note = "grouped, scale",
       .attributes = {attr("scale", 0.3f)},
       .inputs = {heads(6, 4, 5), heads(2, 3, 5), heads(2, 3, 5)}},
      {.note = "modifiers",
       .attributes = {attr("score_mod", with_itself("Mul")), attr("prob_mod", with_itself("Add"))},
       .inputs = {heads(2, 4, 5), heads(2, 3, 5), heads(2, 3, 5)}}};
  for (const DType precision : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    out.push_back({.note = std::string("softmax_precision ") + dtype_name(precision),
                   .attributes = {attr("softmax_precision", static_cast<std::int64_t>(precision))},
                   .inputs = {heads(2, 4, 5), heads(2, 3, 5), heads(2, 3, 5)},
                   .precision = precision});
  }
  return out;
}

}  // namespace

std::vector<BodyRow> attention_body_rows() {
  return {{"ai.onnx.preview.FlexAttention", 2, flex_attention, /*planned_apart=*/true}};
}

}  // namespace grurun::engine::testing
