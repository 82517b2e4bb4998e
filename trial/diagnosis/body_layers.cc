#include "trial/diagnosis/body_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "onnx_io/models/walk.h"
#include "opset/pages/graph_view.h"
#include "opset/recurrent/recurrent_form.h"
#include "trial/diagnosis/capture.h"
#include "trial/diagnosis/paths_to_output.h"

namespace grurun::trial::diagnosis {
namespace {

using onnx_io::Attribute;
using onnx_io::Graph;
using onnx_io::Node;

constexpr std::array<std::size_t, 4> weights = {opset::input_W, opset::input_R, opset::input_B,
                                                opset::input_P};

/// A recurrent node and the graphs around it, the main one first.
struct Place {
  const Node* node;
  std::vector<const Graph*> around;
  std::string path;  // "loop/inner/"
};

void collect(const Graph& graph, Place at, std::vector<Place>& out) {
  at.around.push_back(&graph);
  for (const Node& node : graph.nodes) {
    if (op_of(node) && node.domain.empty() && at.around.size() > 1)
      out.push_back({&node, at.around, at.path});
    Place inner = at;
    if (!node.name.empty()) inner.path += node.name + "/";
    onnx_io::for_each_body(node, [&](const Graph& body, const Attribute&) { collect(body, inner, out); });
  }
}

/// What a name stands for in the innermost graph that has it.
struct Meaning {
  const Tensor* constant = nullptr;
  bool of_main = false;
};
Meaning meaning_of(const Place& place, const std::string& name) {
  for (std::size_t depth = place.around.size(); depth-- > 1;) {
    const Graph& graph = *place.around[depth];
    for (const onnx_io::Initializer& initializer : graph.initializers) {
      if (initializer.name == name) return {&initializer.tensor, false};
    }
    for (const Node& node : graph.nodes) {
      if (std::ranges::find(node.outputs, name) != node.outputs.end())
        return {opset::constant_value(node), false};
    }
    if (std::ranges::find(graph.inputs, name, &onnx_io::ValueInfo::name) != graph.inputs.end()) return {};
  }
  return {nullptr, true};
}

bool is_given(const Node& node, std::size_t input) {
  return input < node.inputs.size() && !node.inputs[input].empty();
}

/// A body that never ran may hold weights of any shape.
bool have_shapes(const Node& node, const std::map<std::size_t, Tensor>& known) {
  const Tensor &W = known.at(opset::input_W), &R = known.at(opset::input_R);
  if (W.rank() != 3 || R.rank() != 3) return false;
  const Attribute* direction = node.find_attribute("direction");
  const std::int64_t D = direction != nullptr && direction->s == "bidirectional" ? 2 : 1;
  Layer layer;
  layer.op = *op_of(node);
  layer.hidden_size = R.dim(2);
  const std::int64_t rows = layer.rows();
  const auto is = [&](std::size_t input, const Shape& shape) {
    const auto found = known.find(input);
    return found == known.end() || (found->second.shape() == shape && found->second.dtype() == W.dtype());
  };
  return layer.hidden_size > 0 && is(opset::input_W, {D, rows, W.dim(2)}) &&
         is(opset::input_R, {D, rows, layer.hidden_size}) && is(opset::input_B, {D, 2 * rows}) &&
         is(opset::input_P, {D, 3 * layer.hidden_size});
}

/// The subject of a node whose weights are known, by input.
Subject subject_of(const onnx_io::Model& model, const Place& place,
                   const std::map<std::size_t, Tensor>& known) {
  Subject subject;
  Node named = *place.node;
  if (!named.name.empty()) named.name = place.path + named.name;
  subject.layer.op = *op_of(named);
  subject.label = label_of(model.opset_imports, named);
  const Tensor &W = known.at(opset::input_W), &R = known.at(opset::input_R);
  const bool batch_first =
      named.find_attribute("layout") != nullptr && named.find_attribute("layout")->i == 1;
  const std::int64_t D = W.dim(0), H = R.dim(2);
  const Shape states = batch_first ? Shape{1, D, H} : Shape{D, 1, H};
  Values values;
  for (std::size_t i = 0; i < named.inputs.size(); ++i) {
    if (named.inputs[i].empty()) continue;
    named.inputs[i] = fmt::format("input {}", i);  // the node may take one value twice
    Value& value = values[named.inputs[i]];
    if (const auto weight = known.find(i); weight != known.end()) {
      value = weight->second;
    } else if (i == opset::input_sequence_lens) {
      Tensor length(DType::int32, Shape{1});
      length.mutable_data<std::int32_t>()[0] = 1;
      value = std::move(length);
    } else {
      value = Tensor::zeros(W.dtype(), i == opset::input_X ? Shape{1, 1, W.dim(2)} : states);
    }
  }
  read_layer(named, values, subject);
  return subject;
}

}  // namespace

std::vector<BodyLayer> find_body_layers(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                        const Rerun& rerun) {
  std::vector<Place> places;
  collect(model.graph, {}, places);
  std::vector<std::string> names;
  for (const Place& place : places) {
    for (const std::size_t i : weights) {
      if (is_given(*place.node, i) && meaning_of(place, place.node->inputs[i]).of_main &&
          std::ranges::find(names, place.node->inputs[i]) == names.end())
        names.push_back(place.node->inputs[i]);
    }
  }
  const Values of_main = names.empty() ? Values() : capture(model, names, inputs, rerun);
  std::vector<BodyLayer> out;
  for (const Place& place : places) {
    std::map<std::size_t, Tensor> known;
    const bool all_known = std::ranges::all_of(weights, [&](std::size_t i) {
      if (!is_given(*place.node, i)) return i > opset::input_R;
      const Meaning meaning = meaning_of(place, place.node->inputs[i]);
      if (meaning.constant != nullptr) known.emplace(i, *meaning.constant);
      if (meaning.of_main) known.emplace(i, of_main.at(place.node->inputs[i]).tensor());
      return known.contains(i);
    });
    if (all_known && have_shapes(*place.node, known))
      out.push_back({place.node, subject_of(model, place, known)});
  }
  return out;
}

}  // namespace grurun::trial::diagnosis
