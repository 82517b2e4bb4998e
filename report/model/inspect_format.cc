#include "report/model/inspect_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "report/bounded.h"
#include "report/counted.h"
#include "report/json_text.h"
#include "tensor/element_text.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using nlohmann::ordered_json;
using onnx_io::Model;
using opset::ModelSummary;
using opset::RecurrentLayer;

// "1,234,567".
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

// What is declared, filled in by inference, which does not keep names that ONNX's own inference may have
// made.
ValueType type_of(const onnx_io::ValueInfo& value, const ModelSummary& summary) {
  const auto found = summary.types.find(value.name);
  if (found == summary.types.end()) return value.type;
  ValueType type = found->second;
  const std::optional<SymbolicShape>& declared = value.type.shape;
  if (!type.shape || !declared || type.shape->size() != declared->size()) return type;
  for (std::size_t d = 0; d < declared->size(); ++d) {
    Dim& dim = (*type.shape)[d];
    if (!dim.value && dim.name.empty()) dim.name = (*declared)[d].name;
  }
  return type;
}

std::string shape_text(const ValueType& type) {
  return type.shape ? " " + to_string(*type.shape) : "";
}

std::string values_text(const char* title, const onnx_io::InitializerIndex& initializers,
                        const ModelSummary& summary, const std::vector<onnx_io::ValueInfo>& values) {
  std::string text = fmt::format("  {}\n", title);
  for (const onnx_io::ValueInfo& value : first_of(values, most_in_text)) {
    const ValueType type = type_of(value, summary);
    text +=
        fmt::format("    {}  {}{}{}\n", printable_name(value.name), type.to_string(),
                    printable(shape_text(type)), initializers.contains(value.name) ? ", initialized" : "");
  }
  return text + left_out(values.size(), most_in_text);
}

std::string known(const std::optional<std::int64_t>& size) {
  return size ? std::to_string(*size) : "?";
}

std::string layer_text(const RecurrentLayer& layer) {
  std::string text = fmt::format("    {} ({})\n", printable_name(layer.node), layer.op);
  text += fmt::format("      input_size {}, hidden_size {}, direction {}, layout {}\n",
                      known(layer.input_size), known(layer.hidden_size),
                      layer.direction.empty() ? "?" : layer.direction, known(layer.layout));
  text +=
      fmt::format("      activations {}",
                  layer.activations.empty() ? "?" : fmt::format("{}", fmt::join(layer.activations, ", ")));
  if (layer.linear_before_reset)
    text += fmt::format("; linear_before_reset {}", *layer.linear_before_reset ? 1 : 0);
  if (layer.input_forget) text += fmt::format("; input_forget {}", *layer.input_forget ? 1 : 0);
  if (layer.clip) text += fmt::format("; clip {}", *layer.clip);
  text += fmt::format("\n      inputs X, W, R{}{}; outputs {}; {} parameters\n",
                      layer.given.empty() ? "" : ", ", fmt::join(layer.given, ", "),
                      layer.outputs.empty() ? "none" : fmt::format("{}", fmt::join(layer.outputs, ", ")),
                      grouped(layer.parameters));
  return text;
}

// What the layer would be as a node, and what to heed when it is made one.
std::string cells_text(const opset::FoundCells& cells) {
  const std::string steps =
      cells.most_steps ? fmt::format("at most {}", *cells.most_steps) : known(cells.steps);
  const char* unit = steps == "1" ? "step" : "steps";
  const std::string how = cells.kind == "unrolled" ? fmt::format("{} {} unrolled, the first at", steps, unit)
                                                   : fmt::format("{} of {} {},", cells.kind, steps, unit);
  std::string text =
      fmt::format("    {} as plain operators: {} {}\n", cells.op_type, how, printable(cells.where));
  text += fmt::format("      input_size {}, hidden_size {}, direction {}\n", known(cells.input_size),
                      known(cells.hidden_size), cells.direction.empty() ? "?" : cells.direction);
  std::vector<std::string> functions;
  for (const opset::CellFunction& function : cells.activations) functions.push_back(function.text());
  text += fmt::format("      activations {}", fmt::join(functions, ", "));
  if (cells.linear_before_reset)
    text += fmt::format("; linear_before_reset {}", *cells.linear_before_reset ? 1 : 0);
  if (!cells.gate_order.empty()) text += fmt::format("; gates in the order {}", cells.gate_order);
  if (cells.masked) text += "; steps that a mask leaves out keep the state";
  if (cells.complement) text += "; the update gate is 1 - z";
  if (!cells.pair_of.empty()) text += fmt::format("; bidirectional with {}", printable(cells.pair_of));
  return text + "\n";
}

std::string flops_text(const opset::FlopCount& flops) {
  std::string text = fmt::format("  FLOPs  {}", grouped(flops.flops));
  if (flops.uncounted.empty()) return text + "\n";
  std::vector<std::string> names;
  for (const auto& [op_type, count] : flops.uncounted) names.push_back(fmt::format("{} {}", count, op_type));
  return text +
         fmt::format(", without {}: sizes, or how often they run, are not known\n", fmt::join(names, ", "));
}

ordered_json shape_json(const ValueType& type) {
  if (!type.shape) return nullptr;
  ordered_json shape = ordered_json::array();
  for (const Dim& dim : *type.shape) {
    if (dim.value) {
      shape.push_back(*dim.value);
    } else {
      shape.push_back(dim.name.empty() ? ordered_json() : ordered_json(dim.name));
    }
  }
  return shape;
}

template <typename T>
ordered_json optional_json(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json layer_json(const RecurrentLayer& layer) {
  ordered_json entry = {
      {"node", layer.node},
      {"op", layer.op},
      {"direction", layer.direction.empty() ? ordered_json() : ordered_json(layer.direction)},
      {"input_size", optional_json(layer.input_size)},
      {"hidden_size", optional_json(layer.hidden_size)},
      {"layout", optional_json(layer.layout)},
      {"activations", layer.activations.empty() ? ordered_json() : ordered_json(layer.activations)},
      {"clip", optional_json(layer.clip)}};
  const bool gru = layer.op.starts_with("GRU");
  if (gru) entry["linear_before_reset"] = optional_json(layer.linear_before_reset);
  if (layer.op.find("LSTM") != std::string::npos) entry["input_forget"] = optional_json(layer.input_forget);
  entry["given"] = layer.given;
  entry["outputs"] = layer.outputs;
  entry["parameters"] = layer.parameters;
  return entry;
}

ordered_json cells_json(const opset::FoundCells& cells) {
  ordered_json entry = {
      {"kind", cells.kind},
      {"op", cells.op_type},
      {"node", cells.where},
      {"steps", optional_json(cells.steps)},
      {"most_steps", optional_json(cells.most_steps)},
      {"input_size", optional_json(cells.input_size)},
      {"hidden_size", optional_json(cells.hidden_size)},
      {"direction", cells.direction.empty() ? ordered_json() : ordered_json(cells.direction)},
      {"activations", ordered_json::array()},
      {"activation_alpha", ordered_json::array()},
      {"activation_beta", ordered_json::array()}};
  for (const opset::CellFunction& function : cells.activations) {
    entry["activations"].push_back(function.name);
    entry["activation_alpha"].push_back(optional_json(function.alpha));
    entry["activation_beta"].push_back(optional_json(function.beta));
  }
  if (cells.op_type == "GRU") {
    entry["linear_before_reset"] = optional_json(cells.linear_before_reset);
    entry["update_gate_is_complement"] = cells.complement;
  }
  entry["masked"] = cells.masked;
  entry["gate_order"] = cells.gate_order.empty() ? ordered_json() : ordered_json(cells.gate_order);
  entry["weight"] = cells.weight;
  entry["pair_of"] = cells.pair_of.empty() ? ordered_json() : ordered_json(cells.pair_of);
  return entry;
}

/// How many are not listed, by the key of the list; no key where all are.
void add_left_out(ordered_json& out, const Model& model, const ModelSummary& summary) {
  const auto note = [&](const char* list, std::size_t size) {
    if (size > most_in_json) out["left_out"][list] = size - most_in_json;
  };
  note("inputs", model.graph.inputs.size());
  note("outputs", model.graph.outputs.size());
  note("operators", summary.operators.size());
  note("recurrent_layers", summary.layers.size());
  note("recurrent_cells", summary.cells.size());
}

}  // namespace

std::string inspect_text(const Inspected& inspected) {
  const Model& model = inspected.model;
  const ModelSummary& summary = inspected.summary;
  std::vector<std::string> opsets;
  for (const auto& [domain, version] : model.opset_imports)
    opsets.push_back(fmt::format("{} {}", printable_name(onnx_io::shown_domain(domain)), version));
  std::string text =
      fmt::format("{}: IR {}, opset {}", printable(model.path), model.ir_version, fmt::join(opsets, ", "));
  if (!model.producer_name.empty())
    text += fmt::format(", producer {} {}", printable_name(model.producer_name),
                        printable_name(model.producer_version));
  while (text.ends_with(' ')) text.pop_back();
  text += "\n" + values_text("inputs", onnx_io::index_initializers(model.graph), summary, model.graph.inputs);
  text += values_text("outputs", {}, summary, model.graph.outputs);
  text += fmt::format("  operators ({}{})\n", counted(summary.nodes, "node"),
                      model.functions.empty() ? "" : ", " + counted(model.functions.size(), "function"));
  for (const opset::OperatorCount& op : first_of(summary.operators, most_in_text))
    text += fmt::format("    {:<24} {}\n", printable_name(op.op), op.count);
  text += left_out(summary.operators.size(), most_in_text);
  text += fmt::format("  parameters  {} in {}, {} bytes\n", grouped(summary.parameters.elements),
                      counted(summary.parameters.tensors, "initializer"), grouped(summary.parameters.bytes));
  text += flops_text(summary.flops);
  if (!summary.layers.empty()) text += "  recurrent layers\n";
  for (const RecurrentLayer& layer : first_of(summary.layers, most_in_text)) text += layer_text(layer);
  text += left_out(summary.layers.size(), most_in_text);
  if (!summary.cells.empty()) text += "  recurrent layers taken apart\n";
  for (const opset::FoundCells& cells : first_of(summary.cells, most_in_text)) text += cells_text(cells);
  text += left_out(summary.cells.size(), most_in_text);
  return text;
}

std::string inspect_json(const Inspected& inspected) {
  const Model& model = inspected.model;
  const ModelSummary& summary = inspected.summary;
  ordered_json out = {{"path", model.path},
                      {"ir_version", model.ir_version},
                      {"producer", model.producer_name},
                      {"producer_version", model.producer_version},
                      {"opsets", ordered_json::object()},
                      {"functions", model.functions.size()}};
  for (const auto& [domain, version] : model.opset_imports)
    out["opsets"][onnx_io::shown_domain(domain)] = version;
  const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(model.graph);
  const auto values = [&](const std::vector<onnx_io::ValueInfo>& list, bool inputs) {
    ordered_json array = ordered_json::array();
    for (const onnx_io::ValueInfo& value : first_of(list, most_in_json)) {
      const ValueType type = type_of(value, summary);
      array.push_back({{"name", without_middle(value.name, most_of_name)},
                       {"type", type.to_string()},
                       {"shape", shape_json(type)}});
      if (inputs) array.back()["initializer"] = initializers.contains(value.name);
    }
    return array;
  };
  out["inputs"] = values(model.graph.inputs, true);
  out["outputs"] = values(model.graph.outputs, false);
  out["nodes"] = summary.nodes;
  out["operators"] = ordered_json::object();
  for (const opset::OperatorCount& op : first_of(summary.operators, most_in_json))
    out["operators"][without_middle(op.op, most_of_name)] = op.count;
  out["parameters"] = {{"elements", summary.parameters.elements},
                       {"bytes", summary.parameters.bytes},
                       {"tensors", summary.parameters.tensors}};
  out["flops"] = {{"counted", summary.flops.flops}, {"uncounted", summary.flops.uncounted}};
  out["recurrent_layers"] = ordered_json::array();
  for (const RecurrentLayer& layer : first_of(summary.layers, most_in_json))
    out["recurrent_layers"].push_back(layer_json(layer));
  out["recurrent_cells"] = ordered_json::array();
  for (const opset::FoundCells& cells : first_of(summary.cells, most_in_json))
    out["recurrent_cells"].push_back(cells_json(cells));
  add_left_out(out, model, summary);
  return json_text(out);
}

}  // namespace grurun::report
