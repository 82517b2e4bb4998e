// GRU, LSTM and RNN layers that a model holds as plain operators: a cell for each step, or one in a Loop or
// Scan.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/cells/activation_pattern.h"

namespace grurun::opset {

struct FoundCells {
  std::string kind;     // "unrolled", "Loop", "Scan"
  std::string where;    // path of the node that makes the first step's state, or of the Loop or Scan
  std::string op_type;  // "GRU", "LSTM", "RNN": the operator that would do the same
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> most_steps;  // of a Loop that a condition may end earlier
  std::optional<std::int64_t> input_size;
  std::optional<std::int64_t> hidden_size;
  std::string direction;  // "forward", "reverse"; empty: not known
  std::vector<CellFunction> activations;
  std::optional<bool> linear_before_reset;  // GRU
  std::string gate_order;   // as the gates stand in the weights: "rzh"; empty: in weights of their own
  bool masked = false;      // steps that a mask leaves out keep the state
  bool complement = false;  // GRU: the update gate is 1 - z
  std::string weight;       // the constant that the state is multiplied with
  std::string source;       // the sequence that steps take their inputs from
  std::string pair_of;      // where the other direction of the same sequence is, of the same sizes
};

/// Of a graph and the subgraphs of its nodes. An unrolled RNN must have two steps at least, since one cannot
/// be told from a dense layer. types are those of the main graph's values.
std::vector<FoundCells> find_cells(const onnx_io::Graph& graph,
                                   const std::map<std::string, ValueType>& types);

}  // namespace grurun::opset
