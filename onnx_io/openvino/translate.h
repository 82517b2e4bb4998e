// From an IR's layers to an ONNX model.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onnx_io/models/external_data.h"
#include "onnx_io/openvino/conversion.h"
#include "onnx_io/openvino/port_names.h"

namespace grurun::onnx_io::openvino {

class Translation {
 public:
  /// weights is a file of `files`, opened when a constant first needs it. All must outlive it.
  Translation(const Network& network, ExternalData& files, const std::string& weights);

  /// The model; constants that are used as they are refer to the weights file. Throws Error(invalid_model)
  /// and Error(unsupported) with the layer as context.
  std::shared_ptr<::onnx::ModelProto> run();

 private:
  void convert(std::size_t index);
  Value convert_parameter(std::size_t index, LayerAttributes& attributes);
  Value convert_const(const Layer& layer, LayerAttributes& attributes);
  Bytes weight_bytes(std::int64_t offset, std::uint64_t size);
  void convert_result(std::size_t index);
  void convert_operator(std::size_t index);
  std::vector<Value> inputs_of(const Layer& layer) const;
  void declare(std::size_t index, std::size_t port);

  const Network& network_;
  ExternalData& files_;
  const std::string& weights_;
  bool weights_known_ = false;
  GraphBuilder graph_;
  Constants constants_;
  PortNames names_;
  std::map<std::size_t, Value> results_;
  std::vector<std::vector<Value>> values_;  // by layer and port
};

}  // namespace grurun::onnx_io::openvino
