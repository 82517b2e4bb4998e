// A case of one node, from little that is said of it: shapes and attributes that nobody gives come of the
// operator's schema and page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/schema/registry.h"
#include "tensor/value.h"
#include "trial/random_values.h"
#include "trial/submodel.h"

namespace grurun::trial {

struct NodeRequest {
  std::string op_type, domain;
  std::optional<std::int64_t> opset;              // of the domain; nullopt: the newest
  std::map<std::string, std::string> attributes;  // "hidden_size": "4"
  std::map<std::string, Shape> shapes;  // by the schema's name of an input; of a variadic one "inputs_0"
  std::map<std::string, std::string> values;  // "shape": "6,4"
  std::map<std::string, std::string> types;   // "float16", of an input or of a constraint, "T"
  std::set<std::string> optional_inputs;      // that are given, beside those of which something is said
  std::optional<std::size_t> outputs;         // how many; nullopt: as many as can be
  RandomSettings random;                      // seed and ranges
};

struct NodeCase {
  std::string operator_text;       // "GRU-14"
  Submodel part;                   // one node, its inputs, and what grurun makes of them
  std::vector<std::string> drawn;  // a line for each input: "X: tensor(float) [5,2,3], uniform in [-1, 1]"
};

/// Tries sizes until the rules of the standard have nothing against the node and it runs. Throws Error(usage)
/// for what is no operator, version, attribute or input, and where no case can be made: with what the rules
/// say against the most likely one. Error(unsupported) for a node with bodies, which no flag can give.
NodeCase make_node_case(const NodeRequest& request);

/// An attribute as a flag gives it, "3", "1,2", "Sigmoid,Tanh"; a tensor as "float:1,2". Throws Error(usage).
onnx_io::Attribute parse_attribute(const opset::AttributeInfo& info, const std::string& text);

/// A tensor of the type from "1,2", of the shape, or a list where none is given. Throws Error(usage).
Tensor parse_elements(const std::string& name, DType dtype, const std::optional<Shape>& shape,
                      const std::string& text);

}  // namespace grurun::trial
