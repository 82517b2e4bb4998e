// Every gate of every step, for people who want to look themselves.
#pragma once

#include <vector>

#include "onnx_io/models/model.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial {

/// For each GRU, LSTM and RNN of the main graph, the functions that it calls and the branches that it takes,
/// by the name of the node (of its first output where it has none; with #2, #3 behind one that an earlier
/// node has): NAME.z, NAME.r, NAME.h (GRU), NAME.i, NAME.o, NAME.f, NAME.c (LSTM), NAME.i (RNN), the gates
/// after their functions, and the states NAME.H and NAME.C (LSTM). Each is double, [seq_length,
/// num_directions, batch_size, hidden_size] whatever the layout, 0 behind a row's end, recomputed in double
/// precision from the inputs that the nodes have when the model runs on `inputs`. Throws Error(usage) when
/// there is no such node, and what a run throws.
std::vector<onnx_io::NamedValue> trace_gates(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                             const Rerun& rerun = {});

/// Throws the Error(usage) of trace_gates without a run.
void require_traceable(const onnx_io::Model& model);

}  // namespace grurun::trial
