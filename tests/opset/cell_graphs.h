// Graphs of recurrent layers that were taken apart, and what find_cells makes of them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opset/cells/found_cells.h"

namespace grurun::opset {

using onnx_io::Attribute;
using onnx_io::AttributeType;
using onnx_io::Graph;
using onnx_io::Node;

inline constexpr std::int64_t input_size = 2;
inline constexpr std::int64_t hidden_size = 5;

// Nodes and constants of a graph, one after the other.
class Builder {
 public:
  std::vector<std::string> op(const std::string& op_type, std::vector<std::string> inputs, int outputs = 1) {
    Node node;
    node.op_type = op_type;
    node.name = fmt::format("n{}", graph.nodes.size());
    node.inputs = std::move(inputs);
    for (int i = 0; i < outputs; ++i) node.outputs.push_back(fmt::format("{}_{}", node.name, i));
    graph.nodes.push_back(node);
    return node.outputs;
  }
  std::string one(const std::string& op_type, std::vector<std::string> inputs) {
    return op(op_type, std::move(inputs)).front();
  }
  std::string add(const std::string& a, const std::string& b) { return one("Add", {a, b}); }
  std::string mul(const std::string& a, const std::string& b) { return one("Mul", {a, b}); }

  // weights [width, terms], as PyTorch holds them
  std::string gemm(const std::string& a, const std::string& weights, const std::string& bias) {
    const std::string made = one("Gemm", {a, weights, bias});
    Attribute transposed;
    transposed.name = "transB";
    transposed.type = AttributeType::int_;
    transposed.i = 1;
    graph.nodes.back().attributes.push_back(transposed);
    return made;
  }

  std::string weight(const std::string& name, const Shape& shape) {
    graph.initializers.push_back({name, Tensor(DType::float32, shape)});
    return name;
  }
  std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
    graph.initializers.push_back(
        {name, Tensor::from<std::int64_t>({static_cast<std::int64_t>(values.size())}, values)});
    return name;
  }
  std::string number(const std::string& name, float value) {
    return constant(name, Tensor::from<float>({}, {value}));
  }
  std::string constant(const std::string& name, Tensor value) {
    graph.initializers.push_back({name, std::move(value)});
    return name;
  }

  Graph graph;
};

// As Keras computes a step, with a product for each gate; the text's own equations with linear_before_reset
// 0.
inline std::string keras_step(Builder& b, const std::string& x, const std::string& H) {
  const auto gate = [&](const char* name, const char* activation, const std::string& state) {
    const std::string of_x =
        b.add(b.one("MatMul", {x, b.weight(fmt::format("W{}", name), {input_size, hidden_size})}),
              b.weight(fmt::format("b{}", name), {hidden_size}));
    const std::string R = b.weight(fmt::format("R{}", name), {hidden_size, hidden_size});
    return b.one(activation, {b.add(of_x, b.one("MatMul", {state, R}))});
  };
  const std::string z = gate("z", "Sigmoid", H);
  const std::string r = gate("r", "Sigmoid", H);
  const std::string h = gate("h", "Tanh", b.mul(r, H));
  const std::string one = b.number("one", 1);
  return b.add(b.mul(z, H), b.mul(b.one("Sub", {one, z}), h));
}

inline std::string described(const FoundCells& c) {
  const auto number = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "?"; };
  std::vector<std::string> functions;
  for (const CellFunction& function : c.activations) functions.push_back(function.text());
  const std::string steps = c.most_steps ? fmt::format("<={}", *c.most_steps) : number(c.steps);
  return fmt::format("{} {} {} steps {}x{} {} [{}] lbr {} order '{}'{}{}", c.kind, c.op_type, steps,
                     number(c.input_size), number(c.hidden_size), c.direction, fmt::join(functions, ","),
                     c.linear_before_reset ? (*c.linear_before_reset ? "1" : "0") : "-", c.gate_order,
                     c.complement ? " complement" : "", c.masked ? " masked" : "");
}

inline std::vector<std::string> found(const Graph& graph,
                                      const std::map<std::string, ValueType>& types = {}) {
  std::vector<std::string> lines;
  for (const FoundCells& cells : find_cells(graph, types)) lines.push_back(described(cells));
  return lines;
}

inline Attribute body_of(Builder& b) {
  Attribute attribute;
  attribute.name = "body";
  attribute.type = AttributeType::graph;
  attribute.graphs = {std::make_shared<const Graph>(b.graph)};
  return attribute;
}

inline Attribute ints(const std::string& name, std::vector<std::int64_t> values) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = AttributeType::ints;
  attribute.ints = std::move(values);
  return attribute;
}

}  // namespace grurun::opset
