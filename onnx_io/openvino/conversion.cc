#include "onnx_io/openvino/conversion.h"

#include <algorithm>

#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

Value Conversion::output(std::size_t port, DType dtype) const {
  std::optional<Dims> dims = layer.outputs[port].dims;
  if (!dims && rank_is_known()) dims.emplace();
  return {.name = output_names[port], .dtype = dtype, .dims = std::move(dims), .constant = nullptr};
}

// Whether OpenVINO knew the rank of the outputs when it wrote the file; then an output without dimensions is
// a scalar.
bool Conversion::rank_is_known() const {
  for (const Value& input : inputs) {
    if (!input.dims) return false;
  }
  if (layer.type != "Squeeze" && layer.type != "Unsqueeze") return true;
  const bool sizes_known = std::ranges::all_of(*inputs[0].dims, [](std::int64_t size) { return size >= 0; });
  return sizes_known && (inputs.size() < 2 || inputs[1].constant != nullptr);
}

Value Conversion::add(const std::string& op_type, std::vector<Value> node_inputs,
                      Attributes node_attributes) {
  const DType dtype = node_inputs.front().dtype;
  graph.add_node({.op_type = op_type,
                  .name = layer.name,
                  .inputs = std::move(node_inputs),
                  .outputs = {output_names[0]},
                  .attributes = std::move(node_attributes),
                  .domain = {}});
  return output(0, dtype);
}

Value Conversion::add_helper(const std::string& op_type, std::vector<Value> node_inputs,
                             Attributes node_attributes) {
  const DType dtype = node_inputs.front().dtype;
  return graph.add_helper({.op_type = op_type,
                           .name = layer.name + "/" + op_type,
                           .inputs = std::move(node_inputs),
                           .outputs = {},
                           .attributes = std::move(node_attributes),
                           .domain = {}},
                          dtype);
}

Value Conversion::int64_list(std::size_t index) {
  const Value& value = inputs[index];
  const std::string what = fmt::format("input {}", index);
  if (value.constant != nullptr) return graph.make_integers(integers_of(*value.constant, what));
  if (!is_integer(value.dtype)) {
    fail_invalid("{} has elements of type {}; it must have integers", what, dtype_name(value.dtype));
  }
  // Beyond int64 it would become a negative size.
  if (value.dtype == DType::uint64)
    fail_unsupported("{} has elements of type uint64 that are no constants", what);
  Value list = value;
  if (list.dtype != DType::int64) {
    list = add_helper("Cast", {list}, {make_attribute("to", static_cast<std::int64_t>(DType::int64))});
    list.dtype = DType::int64;
  }
  return add_helper("Reshape", {list, graph.make_integers({-1})});
}

std::vector<std::int64_t> Conversion::constant_integers(std::size_t index, const char* what) const {
  const Value& value = inputs[index];
  if (value.constant == nullptr) {
    fail_unsupported("input {} ({}) is no constant; it must be one to be converted", index, what);
  }
  return integers_of(*value.constant, fmt::format("input {} ({})", index, what));
}

std::string shape_text(const std::optional<Dims>& dims) {
  if (!dims) return "of unknown rank";
  std::string text = "[";
  for (const std::int64_t size : *dims) {
    if (text.size() > 1) text += ',';
    text += size >= 0 ? std::to_string(size) : "?";
  }
  return text + "]";
}

}  // namespace grurun::onnx_io::openvino
