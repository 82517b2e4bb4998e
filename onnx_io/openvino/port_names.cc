#include "onnx_io/openvino/port_names.h"

namespace grurun::onnx_io::openvino {

PortNames::PortNames(const Network& network, GraphBuilder& graph) : network_(network), graph_(graph) {
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    for (const Source& source : layer.sources) used_.emplace(source.layer, source.port);
    if (layer.type != "Parameter" || layer.outputs.size() != 1) continue;
    const auto& names = layer.outputs[0].names;
    ports_[{i, 0}] = graph.unique_name(names.empty() ? layer.name : names[0]);
  }
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (network.layers[i].type == "Result" && network.layers[i].sources.size() == 1) name_result(i);
  }
}

void PortNames::name_result(std::size_t index) {
  const Layer& layer = network_.layers[index];
  const Source source = layer.sources[0];
  const Layer& maker = network_.layers[source.layer];
  const auto& names = maker.outputs[source.port].names;
  std::string wanted = layer.name;
  if (!layer.output_names.empty()) {
    wanted = layer.output_names[0];
  } else if (!names.empty() && maker.type != "Parameter") {
    wanted = names[0];
  }
  const std::string name = graph_.unique_name(wanted);
  results_[index] = name;
  model_outputs_.insert(name);
  // What these make may be no value of a node; and one value cannot have the names of two Results.
  if (maker.type == "Parameter" || maker.type == "Const" || maker.type == "Convert") return;
  ports_.try_emplace({source.layer, source.port}, name);
}

const std::string& PortNames::of_port(std::size_t index, std::size_t port) {
  const auto [known, added] = ports_.try_emplace({index, port});
  if (!added) return known->second;
  const Layer& layer = network_.layers[index];
  const auto& names = layer.outputs[port].names;
  std::string wanted = layer.name;
  if (!names.empty()) {
    wanted = names[0];
  } else if (layer.outputs.size() > 1) {
    wanted += ":" + std::to_string(port);
  }
  return known->second = graph_.unique_name(wanted);
}

}  // namespace grurun::onnx_io::openvino
