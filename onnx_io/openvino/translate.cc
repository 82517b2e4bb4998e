#include "onnx_io/openvino/translate.h"

#include <algorithm>

#include "onnx_io/models/proto_convert.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "onnx_io/values/stored_elements.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace openvino {

namespace {

constexpr std::int64_t onnx_ir_version = 10;  // the one of opset 22
// Weights are rearranged, widened and padded with zeros, each at most a few times over.
constexpr std::uint64_t made_per_weight_byte = 8;
constexpr std::uint64_t made_at_least = std::uint64_t{64} << 20;

int opset_number(const std::string& version) {
  constexpr std::string_view prefix = "opset";
  if (!version.starts_with(prefix)) {
    fail_unsupported("operators of '{}' are not read, only those of opset1 and later", version);
  }
  const std::int64_t number = parse_integer(std::string_view(version).substr(prefix.size()), "version");
  if (number < 1 || number > newest_opset) fail_invalid("there is no {}", version);
  return static_cast<int>(number);
}

const OperatorRow& row_of(const Layer& layer) {
  const int opset = opset_number(layer.version);
  for (const auto rows : {elementwise_rows(), shape_rows(), cell_rows(), sequence_rows()}) {
    for (const OperatorRow& row : rows) {
      if (row.type == layer.type && opset >= row.first_opset && opset <= row.last_opset) return row;
    }
  }
  fail_unsupported("operator {} of {} is not read", layer.type, layer.version);
}

void check_counts(const Layer& layer, const OperatorRow& row) {
  const std::size_t inputs = layer.inputs.size();
  if (inputs < row.min_inputs || inputs > row.max_inputs) {
    fail_invalid("it has {} inputs; {} has {}", inputs, row.versioned_name,
                 row.min_inputs == row.max_inputs ? fmt::format("{}", row.min_inputs)
                 : row.max_inputs == any_count    ? fmt::format("at least {}", row.min_inputs)
                                                  : fmt::format("{} to {}", row.min_inputs, row.max_inputs));
  }
  const std::size_t outputs = layer.outputs.size();
  if (row.outputs == any_count ? outputs > 0 : outputs == row.outputs) return;
  fail_invalid("it has {} outputs; {} has {}", outputs, row.versioned_name,
               row.outputs == any_count ? 1 : row.outputs);
}

// What an input port says of its value is said where the value is made, too.
void check_same(const Port& port, const Value& value) {
  if (!port.dims || !value.dims) return;
  bool same = port.dims->size() == value.dims->size();
  for (std::size_t i = 0; same && i < value.dims->size(); ++i) {
    const std::int64_t here = (*port.dims)[i];
    const std::int64_t there = (*value.dims)[i];
    same = here < 0 || there < 0 || here == there;
  }
  if (same) return;
  fail_invalid("port {} declares {}, but its value is {}", port.id, shape_text(port.dims),
               shape_text(value.dims));
}

const Port& only_output(const Layer& layer) {
  if (layer.outputs.size() == 1 && layer.inputs.empty()) return layer.outputs[0];
  fail_invalid("it has {} inputs and {} outputs; it must have one output and no inputs", layer.inputs.size(),
               layer.outputs.size());
}

}  // namespace

Translation::Translation(const Network& network, ExternalData& files, const std::string& weights)
    : network_(network),
      files_(files),
      weights_(weights),
      graph_(weights, made_at_least),
      constants_(graph_),
      names_(network, graph_) {}

std::shared_ptr<::onnx::ModelProto> Translation::run() {
  ::onnx::ModelProto& model = graph_.model();
  model.set_ir_version(onnx_ir_version);
  model.set_producer_name(fmt::format("OpenVINO IR {}", network_.version));
  model.set_producer_version(network_.runtime_version);
  model.mutable_graph()->set_name(network_.name);
  values_.resize(network_.layers.size());
  for (const std::size_t index : network_.order) {
    with_context([&] { return network_.layers[index].label(); }, [&] { convert(index); });
  }
  // Inputs and outputs are in the order in which the file lists them.
  for (std::size_t i = 0; i < network_.layers.size(); ++i) {
    if (network_.layers[i].type == "Parameter") graph_.add_input(values_[i][0]);
    if (network_.layers[i].type == "Result") graph_.add_output(results_.at(i));
  }
  return graph_.finish();
}

void Translation::convert(std::size_t index) {
  const Layer& layer = network_.layers[index];
  LayerAttributes attributes(layer);
  if (layer.type == "Parameter") {
    values_[index] = {convert_parameter(index, attributes)};
  } else if (layer.type == "Const") {
    values_[index] = {convert_const(layer, attributes)};
  } else if (layer.type == "Result") {
    convert_result(index);
  } else {
    return convert_operator(index);
  }
  attributes.require_all_read();
}

Value Translation::convert_parameter(std::size_t index, LayerAttributes& attributes) {
  const Port& port = only_output(network_.layers[index]);
  Value value{.name = names_.of_port(index, 0),
              .dtype = attributes.element_type("element_type"),
              .dims = parse_shape(attributes.text("shape"), "attribute shape"),
              .constant = nullptr};
  check_same(port, value);
  return value;
}

// Before release 2020.4 the element type and the shape were said of the port only.
Value Translation::convert_const(const Layer& layer, LayerAttributes& attributes) {
  const Port& port = only_output(layer);
  const std::string* const type = attributes.find("element_type");
  const std::string* const shape = attributes.find("shape");
  Value value{.name = layer.name,
              .dtype = parse_element_type(type != nullptr ? *type : port.precision),
              .dims = shape != nullptr ? parse_shape(*shape, "attribute shape") : port.dims.value_or(Dims{}),
              .constant = nullptr};
  if (!value.dims || std::ranges::any_of(*value.dims, [](std::int64_t size) { return size < 0; })) {
    fail_invalid("a constant of shape {}; its sizes must be numbers", shape_text(value.dims));
  }
  check_same(port, value);
  const std::int64_t offset = attributes.integer("offset");
  const std::int64_t size = attributes.integer("size");
  if (offset < 0 || size < 0) {
    fail_invalid("attribute offset is {} and size is {}; neither may be negative", offset, size);
  }
  const auto needed = static_cast<std::uint64_t>(stored_elements(*value.dims)) * dtype_size(value.dtype);
  // OpenVINO writes a byte for a constant without elements.
  if (static_cast<std::uint64_t>(size) != needed && needed != 0) {
    fail_invalid("attribute size is {}, but {} {} takes {} bytes", size, dtype_name(value.dtype),
                 shape_text(value.dims), needed);
  }
  Constant constant{value.dtype, *value.dims, weight_bytes(offset, needed), std::nullopt};
  if (needed > 0) constant.offset = static_cast<std::uint64_t>(offset);
  value.constant = std::make_shared<const Constant>(std::move(constant));
  return value;
}

Bytes Translation::weight_bytes(std::int64_t offset, std::uint64_t size) {
  if (size == 0) return {};
  if (!weights_known_) {
    const std::uint64_t whole = files_.find({.location = weights_, .offset = 0, .length = std::nullopt}).size;
    graph_.allow_made_bytes(std::max(whole, made_at_least / made_per_weight_byte) * made_per_weight_byte);
    weights_known_ = true;
  }
  return files_.find({.location = weights_, .offset = static_cast<std::uint64_t>(offset), .length = size});
}

void Translation::convert_result(std::size_t index) {
  const Layer& layer = network_.layers[index];
  if (layer.inputs.size() != 1 || !layer.outputs.empty()) {
    fail_invalid("it has {} inputs and {} outputs; it must have one input and no outputs",
                 layer.inputs.size(), layer.outputs.size());
  }
  const Value input = inputs_of(layer)[0];
  Value output = input;
  output.name = names_.of_result(index);
  output.constant = nullptr;
  if (input.constant != nullptr || output.name != input.name) {
    graph_.add_node({.op_type = "Identity",
                     .name = layer.name,
                     .inputs = {input},
                     .outputs = {output.name},
                     .attributes = {},
                     .domain = {}});
  }
  results_.emplace(index, output);
}

void Translation::convert_operator(std::size_t index) {
  const Layer& layer = network_.layers[index];
  const OperatorRow& row = row_of(layer);
  check_counts(layer, row);
  Conversion conversion{.layer = layer,
                        .attributes = LayerAttributes(layer),
                        .inputs = inputs_of(layer),
                        .output_names = {},
                        .output_used = {},
                        .graph = graph_,
                        .constants = constants_};
  for (std::size_t port = 0; port < layer.outputs.size(); ++port) {
    conversion.output_names.push_back(names_.of_port(index, port));
    conversion.output_used.push_back(names_.is_used(index, port));
  }
  values_[index] = row.convert(conversion);
  conversion.attributes.require_all_read();
  for (std::size_t port = 0; port < layer.outputs.size(); ++port) declare(index, port);
}

std::vector<Value> Translation::inputs_of(const Layer& layer) const {
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < layer.sources.size(); ++i) {
    inputs.push_back(values_[layer.sources[i].layer][layer.sources[i].port]);
    check_same(layer.inputs[i], inputs.back());
  }
  return inputs;
}

// For `grurun check`, which holds what is declared against what it infers.
void Translation::declare(std::size_t index, std::size_t port) {
  Value value = values_[index][port];
  if (value.constant != nullptr || !names_.is_used(index, port) || names_.is_model_output(value.name)) return;
  const std::string& precision = network_.layers[index].outputs[port].precision;
  if (!precision.empty()) value.dtype = parse_element_type(precision);
  graph_.declare(value);
}

}  // namespace openvino

bool looks_like_openvino_ir(std::string_view head) {
  return openvino::looks_like_ir(head);
}

Model parse_openvino_ir(std::string_view xml, const std::string& folder, const std::string& weights_file) {
  const openvino::Network network = openvino::read_network(xml);
  ExternalData files(folder);
  auto proto = openvino::Translation(network, files, weights_file).run();
  Model model = model_from_proto(std::move(proto), &files);
  model.from_openvino_ir = true;
  return model;
}

}  // namespace grurun::onnx_io
