// Models of one GRU, RNN or LSTM node, to be changed in one place.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "opset/recurrent/recurrent_form.h"
#include "tests/opset/model_text.h"

namespace grurun::opset {

/// seq_length 5, batch_size 3, input_size 2, hidden_size 4, one direction; every input is given but the
/// constants: X, W, R and B are graph inputs.
struct OneLayer {
  OneLayer(const std::string& op_type, int version)
      : op(op_type), opset(version), form(*find_recurrent_form(op_type, "")) {
    const int rows = 4 * form.gates;
    types = {{"X", "float[5,3,2]"},
             {"W", fmt::format("float[1,{},2]", rows)},
             {"R", fmt::format("float[1,{},4]", rows)},
             {"B", fmt::format("float[1,{}]", 2 * rows)},
             {"L", "int32[3]"},
             {"H", "float[1,3,4]"},
             {"C", "float[1,3,4]"},
             {"P", "float[1,12]"}};
    inputs = {"X", "W", "R", "B", "L", "H"};
    outputs = {{"Y", "float[5,1,3,4]"}, {"Y_h", "float[1,3,4]"}};
    attributes["hidden_size"] = "4";
    if (form.has_cell) {
      inputs.insert(inputs.end(), {"C", "P"});
      outputs.emplace_back("Y_c", "float[1,3,4]");
    }
    if (version < 7) attributes["output_sequence"] = "1";
  }

  std::string text() const {
    std::vector<std::string> graph_inputs;
    std::vector<std::string> graph_outputs;
    std::vector<std::string> made;
    std::vector<std::string> given;
    std::vector<std::string> constants;
    std::vector<std::string> said = more_attributes;
    for (const auto& [name, type] : types) {
      if (const auto found = values.find(name); found != values.end()) {
        constants.push_back(fmt::format("{} {} = {{{}}}", type, name, found->second));
      } else {
        graph_inputs.push_back(type + " " + name);
      }
    }
    for (const auto& [name, type] : outputs) {
      made.push_back(name.empty() ? "\"\"" : name);
      if (!name.empty()) graph_outputs.push_back(type + " " + name);
    }
    for (const std::string& name : inputs) given.push_back(name.empty() ? "\"\"" : name);
    for (const auto& [name, value] : attributes) said.push_back(name + " = " + value);
    graph_inputs.emplace_back("float[k] K");
    graph_outputs.emplace_back("float[k] Z");
    return fmt::format(
        "<ir_version: 8, opset_import: [\"\" : {}]> g ({}) => ({}) <{}> {{ [n] {} = {} {} ({}) Z = "
        "Identity(K) }}",
        opset, fmt::join(graph_inputs, ", "), fmt::join(graph_outputs, ", "), fmt::join(constants, ", "),
        fmt::join(made, ", "), op, said.empty() ? "" : fmt::format("<{}>", fmt::join(said, ", ")),
        fmt::join(given, ", "));
  }

  onnx_io::Model model() const { return model_from_text(text()); }

  void set_type(const std::string& name, const std::string& type) { types.at(name) = type; }
  /// A constant of count equal values.
  void set_constant(const std::string& name, const std::string& value, int count) {
    values[name] =
        fmt::format("{}", fmt::join(std::vector<std::string>(static_cast<std::size_t>(count), value), ", "));
  }

  std::string op;
  int opset;
  const RecurrentForm& form;
  std::map<std::string, std::string> types;       // of every input that may be given
  std::map<std::string, std::string> values;      // those that are initializers
  std::map<std::string, std::string> attributes;  // values in ONNX's text syntax
  std::vector<std::string> more_attributes;       // "name = value", for repeated ones
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, std::string>> outputs;  // names and declared types
};

}  // namespace grurun::opset
