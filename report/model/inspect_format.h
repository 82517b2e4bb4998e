// What `grurun inspect` prints.
#pragma once

#include <string>

#include "onnx_io/models/model.h"
#include "opset/summary/model_summary.h"

namespace grurun::report {

struct Inspected {
  const onnx_io::Model& model;
  opset::ModelSummary summary;
};

/// Control characters that a model brings along are escaped.
std::string inspect_text(const Inspected& inspected);

/// {"path", "ir_version", "producer", "producer_version", "opsets": {domain: version}, "functions",
/// "inputs", "outputs": [{"name", "type", "shape" (null: rank unknown; a dimension is a number, a name or
/// null), "initializer" (inputs)}], "nodes", "operators": {"GRU-14": 2}, "parameters": {"elements", "bytes",
/// "tensors"}, "flops": {"counted", "uncounted": {"Conv": 1}}, "recurrent_layers": [{"node", "op",
/// "direction", "input_size", "hidden_size", "layout", "activations", "clip", "linear_before_reset" (GRU),
/// "input_forget" (LSTM), "given", "outputs", "parameters"}], "recurrent_cells": [{"kind", "op", "node",
/// "steps", "input_size", "hidden_size", "direction", "activations", "activation_alpha" and
/// "activation_beta" (null: the function has none), "linear_before_reset" and "update_gate_is_complement"
/// (GRU), "gate_order", "weight", "pair_of"}], "left_out": {list: how many more than its 10,000}}; null: not
/// known.
std::string inspect_json(const Inspected& inspected);

}  // namespace grurun::report
