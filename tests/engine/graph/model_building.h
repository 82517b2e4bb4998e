// Short ways to write a model down in a test.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"
#include "tests/engine/one_node.h"

namespace grurun::engine::testing {

/// float32, uniform in [-4, 4).
inline Tensor random_tensor(Shape shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-4, 4);
  Tensor made(DType::float32, std::move(shape));
  float* to = made.mutable_data<float>();
  for (std::int64_t i = 0; i < made.size(); ++i) to[i] = values(generator);
  return made;
}

inline onnx_io::Node node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs,
                          Attributes attributes = {}, std::string domain = "") {
  onnx_io::Node made;
  made.op_type = std::move(op);
  made.domain = std::move(domain);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  made.attributes = std::move(attributes);
  return made;
}

inline onnx_io::Graph graph(std::vector<std::string> inputs, std::vector<onnx_io::Node> nodes,
                            std::vector<std::string> outputs) {
  onnx_io::Graph made;
  made.name = "graph";
  for (std::string& name : inputs) made.inputs.push_back({std::move(name), {}});
  for (std::string& name : outputs) made.outputs.push_back({std::move(name), {}});
  made.nodes = std::move(nodes);
  return made;
}

inline onnx_io::Model model(onnx_io::Graph main, std::int64_t opset = 21) {
  onnx_io::Model made;
  made.ir_version = 10;
  made.opset_imports[""] = opset;
  made.graph = std::move(main);
  return made;
}

inline Value floats(std::vector<float> values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

inline std::vector<float> as_floats(const Value& value) {
  const auto span = value.tensor().span<float>();
  return {span.begin(), span.end()};
}

inline std::vector<Value> run(const onnx_io::Model& made, std::vector<Value> inputs) {
  return run_plan(*make_plan(made), std::move(inputs));
}

/// The kind and message of the Error that body throws; fails the test when it throws none.
template <typename Body>
std::pair<ErrorKind, std::string> error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorKind::internal, ""};
}

}  // namespace grurun::engine::testing
