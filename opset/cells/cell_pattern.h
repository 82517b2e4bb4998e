// One step of a GRU, LSTM or RNN that an exporter took apart into plain operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opset/cells/activation_pattern.h"
#include "opset/cells/term_reader.h"

namespace grurun::opset {

struct CellStep {
  const char* op_type;  // "GRU", "LSTM", "RNN"
  std::string h_next;
  std::string h_previous;                   // behind what only changes the shape
  std::string c_previous;                   // LSTM
  std::vector<CellFunction> activations;    // f, g, h in the operator's order
  std::optional<bool> linear_before_reset;  // GRU
  bool masked = false;                      // a mask chooses between the step and the old state
  std::vector<std::string> choices;         // what h_next is chosen from: no steps by themselves
  bool complement = false;             // GRU: the gate weighs the candidate, not the old state: it is 1 - z
  std::string weight;                  // the constant that the update gate multiplies the state with
  std::string gate_order;              // gates as they stand in one product: "rzh"; empty: each has its own
  const Tensor* recurrent = nullptr;   // the constant of that name
  bool has_sides_of_R = false;         // LSTM: hidden_size for each of its gates by hidden_size
  bool joined = false;                 // it multiplies state and input together
  std::optional<std::int64_t> summed;  // terms of that product: hidden_size, with input_size where joined
  std::optional<std::int64_t> width;   // what it gives: hidden_size for each of gate_order; empty: not known
  const Tensor* input = nullptr;       // what the input is multiplied with, where it is a constant apart
  std::optional<std::int64_t> input_size;  // terms of the input's product
  std::vector<Selection> input_path;       // from the input's term to where it comes from
  bool input_flipped = false;              // see Term::flipped
  std::string input_source;                // the end of that way
};

/// The steps that may end in the value called name, the likeliest first: LSTM and RNN do not tell by
/// themselves which factor is the state. A GRU's H is (1 - z) . h + z . H, however it is written; an LSTM's
/// is o . h(C), with C = f . C + i . c. A mask may choose between that and the old state.
std::vector<CellStep> match_cells(const GraphView& graph, const std::string& name);

}  // namespace grurun::opset
