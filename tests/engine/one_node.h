// Runs a single node through the whole engine: a model of one node is built in memory, planned and run, so
// that a test of an operator sees what a user would.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::engine::testing {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Attributes = std::vector<onnx_io::Attribute>;

inline onnx_io::Attribute attribute(std::string name, onnx_io::AttributeType type) {
  onnx_io::Attribute made;
  made.name = std::move(name);
  made.type = type;
  return made;
}
inline onnx_io::Attribute attr(std::string name, std::int64_t value) {
  auto made = attribute(std::move(name), onnx_io::AttributeType::int_);
  made.i = value;
  return made;
}
inline onnx_io::Attribute attr(std::string name, int value) {
  return attr(std::move(name), std::int64_t{value});
}
inline onnx_io::Attribute attr(std::string name, float value) {
  auto made = attribute(std::move(name), onnx_io::AttributeType::float_);
  made.f = value;
  return made;
}
inline onnx_io::Attribute attr(std::string name, const char* value) {
  auto made = attribute(std::move(name), onnx_io::AttributeType::string);
  made.s = value;
  return made;
}
inline onnx_io::Attribute attr(std::string name, std::vector<std::int64_t> values) {
  auto made = attribute(std::move(name), onnx_io::AttributeType::ints);
  made.ints = std::move(values);
  return made;
}
inline onnx_io::Attribute attr(std::string name, std::vector<float> values) {
  auto made = attribute(std::move(name), onnx_io::AttributeType::floats);
  made.floats = std::move(values);
  return made;
}
inline onnx_io::Attribute attr(std::string name, std::vector<std::string> values) {
  auto made = attribute(std::move(name), onnx_io::AttributeType::strings);
  made.strings = std::move(values);
  return made;
}
inline onnx_io::Attribute attr(std::string name, Tensor value) {
  auto made = attribute(std::move(name), onnx_io::AttributeType::tensor);
  made.tensors.push_back(std::move(value));
  return made;
}
inline onnx_io::Attribute attr(std::string name, onnx_io::Graph body) {
  auto made = attribute(std::move(name), onnx_io::AttributeType::graph);
  made.graphs.push_back(std::make_shared<const onnx_io::Graph>(std::move(body)));
  return made;
}

struct OneNode {
  std::string op;
  std::string domain;
  std::int64_t opset = 0;     // version of `domain` that the model imports
  std::vector<Value> inputs;  // an empty Value is an omitted input
  Attributes attributes;
  std::vector<bool> outputs{true};   // which outputs are named; false is an omitted one, ""
  std::vector<bool> initializers{};  // inputs that the model holds as initializers instead of graph inputs
};

/// The model of one node: inputs "in_0", "in_1", ..., outputs "out_0", ..., graph inputs typed as the values.
inline onnx_io::Model one_node_model(const OneNode& one) {
  onnx_io::Model model;
  model.ir_version = 10;
  model.opset_imports[one.domain] = one.opset;
  model.graph.name = "one_node";
  onnx_io::Node node;
  node.op_type = one.op;
  node.domain = one.domain;
  node.name = "node";
  node.attributes = one.attributes;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const Value& value = one.inputs[i];
    node.inputs.push_back(value.empty() ? "" : "in_" + std::to_string(i));
    if (value.empty()) continue;
    if (i < one.initializers.size() && one.initializers[i]) {
      model.graph.initializers.push_back({node.inputs[i], value.tensor()});
    } else {
      model.graph.inputs.push_back({node.inputs[i], value.type()});
    }
  }
  for (std::size_t i = 0; i < one.outputs.size(); ++i) {
    node.outputs.push_back(one.outputs[i] ? "out_" + std::to_string(i) : "");
    if (one.outputs[i]) model.graph.outputs.push_back({node.outputs[i], ValueType{}});
  }
  model.graph.nodes.push_back(std::move(node));
  return model;
}

/// The values for the graph inputs of one_node_model, in their order.
inline std::vector<Value> fed_values(const OneNode& one) {
  std::vector<Value> fed;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const bool initializer = i < one.initializers.size() && one.initializers[i];
    if (!one.inputs[i].empty() && !initializer) fed.push_back(one.inputs[i]);
  }
  return fed;
}

/// Plans and runs the node once; result[i] is output i, an empty Value where it is not named. Errors pass
/// through.
inline std::vector<Value> run_node(const OneNode& one, const RunOptions& options = {}) {
  const auto plan = make_plan(one_node_model(one));
  std::vector<Value> made = run_plan(*plan, fed_values(one), options);
  std::vector<Value> by_position(one.outputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < one.outputs.size(); ++i) {
    if (one.outputs[i]) by_position[i] = std::move(made.at(next++));
  }
  return by_position;
}

inline std::vector<Value> run_node(const std::string& op, const std::string& domain, std::int64_t opset,
                                   std::vector<Value> inputs, Attributes attributes = {},
                                   std::size_t output_count = 1) {
  return run_node(OneNode{.op = op,
                          .domain = domain,
                          .opset = opset,
                          .inputs = std::move(inputs),
                          .attributes = std::move(attributes),
                          .outputs = std::vector<bool>(output_count, true)});
}

}  // namespace grurun::engine::testing
