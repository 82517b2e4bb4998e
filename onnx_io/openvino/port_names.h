// What the values of an IR are called in the ONNX model: as their tensors are, so that users find the names
// that they know; a name that is taken gets a number.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "onnx_io/openvino/graph_builder.h"
#include "onnx_io/openvino/network.h"

namespace grurun::onnx_io::openvino {

class PortNames {
 public:
  /// Inputs and outputs of the model are named at once, before all others. Both must outlive it.
  PortNames(const Network& network, GraphBuilder& graph);

  /// Of the value that an output port carries.
  const std::string& of_port(std::size_t layer, std::size_t port);
  /// Of the model's output that a Result stands for; a port may have the same.
  const std::string& of_result(std::size_t layer) const { return results_.at(layer); }

  /// True when a layer takes the value of the port.
  bool is_used(std::size_t layer, std::size_t port) const { return used_.contains({layer, port}); }
  bool is_model_output(const std::string& name) const { return model_outputs_.contains(name); }

 private:
  void name_result(std::size_t index);

  const Network& network_;
  GraphBuilder& graph_;
  std::set<std::pair<std::size_t, std::size_t>> used_;
  std::map<std::pair<std::size_t, std::size_t>, std::string> ports_;
  std::map<std::size_t, std::string> results_;
  std::set<std::string> model_outputs_;
};

}  // namespace grurun::onnx_io::openvino
