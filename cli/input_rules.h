// What the nodes that read an input say about the values it may have.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cli/random_tensor.h"
#include "onnx_io/model.h"

namespace grurun::cli {

/// The range that every node of the main graph reading this input admits, or nullopt when none restricts it:
/// sequence_lens of GRU, LSTM and RNN is in [1, seq_length], indices of Gather and GatherElements are in
/// [0, dim - 1]. shapes holds the shapes of inputs known so far; initializers' are looked
/// up.
std::optional<Range> range_by_use(const onnx_io::Graph& graph, const std::string& input,
                                  const std::map<std::string, Shape>& shapes);

}  // namespace grurun::cli
