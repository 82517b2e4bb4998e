// What a model consists of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/cells/found_cells.h"
#include "opset/summary/model_flops.h"

namespace grurun::opset {

/// A GRU, RNN or LSTM node.
struct RecurrentLayer {
  std::string node;       // path
  std::string op;         // "GRU-14"
  std::string direction;  // empty: not known
  std::optional<std::int64_t> input_size;
  std::optional<std::int64_t> hidden_size;
  std::optional<std::int64_t> layout;
  std::vector<std::string> activations;  // of all directions, defaults filled in; empty: not known
  std::optional<float> clip;
  std::optional<bool> linear_before_reset;  // GRU
  std::optional<bool> input_forget;         // LSTM
  std::vector<std::string> given;           // optional inputs: "B", "sequence_lens", "initial_h", ...
  std::vector<std::string> outputs;         // those that are named: "Y", "Y_h", "Y_c"
  std::int64_t parameters = 0;              // elements of W, R, B and P that are constants
};

/// Elements of the initializers of every graph, those of subgraphs too, and the bytes that they take.
struct ParameterCount {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::size_t tensors = 0;
};

struct OperatorCount {
  std::string op;  // "GRU-14", "com.example:F" for a function or an unknown operator
  std::size_t count = 0;
};

struct ModelSummary {
  std::map<std::string, ValueType> types;  // of the main graph's values, as infer_types finds them
  std::size_t nodes = 0;                   // as written, those of subgraphs and functions too
  std::vector<OperatorCount> operators;    // by name
  std::vector<RecurrentLayer> layers;
  std::vector<FoundCells> cells;  // layers that are held as plain operators
  ParameterCount parameters;
  FlopCount flops;
};

/// sizes gives named dimensions of inputs a size. Throws Error(limit) for subgraphs nested too deep.
ModelSummary summarise(const onnx_io::Model& model, const std::map<std::string, std::int64_t>& sizes);

}  // namespace grurun::opset
