// What a check and a run say of a model in ONNX's text syntax: one sentence of both.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/graph/computed_values.h"
#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "opset/check/check.h"
#include "tensor/error.h"
#include "tests/opset/model_text.h"
#include "trial/preparation_fault.h"

namespace grurun::trial {

struct Row {
  int opset;
  std::string model;  // inputs, outputs, initializers and nodes
  std::string says;   // a part of the sentence; empty: nothing
};

inline std::string checked_words(const onnx_io::Model& model) {
  std::string text;
  for (const opset::Finding& finding :
       opset::check_model(model, engine::computed_values(model), preparation_fault).findings)
    // The models leave the types of outputs open, which ONNX's checker does not allow.
    if (finding.severity == opset::Severity::error && finding.code != "ONNX001")
      text += fmt::format("{} [{}]\n", finding.message, finding.code);
  return text;
}

// Fed with zeros.
inline std::string run_words(const onnx_io::Model& model) {
  std::vector<Value> inputs;
  for (const onnx_io::ValueInfo& input : model.graph.inputs) {
    std::vector<std::int64_t> dims;
    for (const Dim& dim : *input.type.shape) dims.push_back(dim.value.value_or(1));
    inputs.emplace_back(Tensor::zeros(input.type.elem, Shape(dims)));
  }
  try {
    engine::run_plan(*engine::make_plan(model), inputs);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

inline std::string node(const std::string& inputs, const std::string& call) {
  return "(" + inputs + ") => (Y) { Y = " + call + " }";
}

inline void expect_same_words(const Row& row, const std::string& more_imports = "") {
  onnx::ModelProto proto = proto_from_text(
      fmt::format("<ir_version: 8, opset_import: [\"\" : {}{}]> g {}", row.opset, more_imports, row.model));
  for (auto& output : *proto.mutable_graph()->mutable_output()) output.clear_type();
  const onnx_io::Model model = model_from_proto(proto);
  const std::string check = checked_words(model), ran = run_words(model);
  if (row.says.empty()) {
    EXPECT_EQ(check, "") << row.model;
    EXPECT_EQ(ran, "") << row.model;
    return;
  }
  EXPECT_NE(check.find(row.says), std::string::npos) << row.model << "\n  check: " << check;
  EXPECT_NE(ran.find(row.says), std::string::npos) << row.model << "\n  run: " << ran;
}

}  // namespace grurun::trial
