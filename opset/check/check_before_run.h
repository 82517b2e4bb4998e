// The rules of GRU, RNN and LSTM before a run: what can be told at once, without inference over the whole
// model.
#pragma once

#include <string>
#include <unordered_set>

#include "onnx_io/models/model.h"
#include "opset/check/check.h"

namespace grurun::opset {

/// Names in bodies that hide outer ones, and forms of nodes that are taken all the same (pages/forms.h).
/// Attributes and numbers of inputs and outputs of every GRU, RNN and LSTM, in subgraphs and functions too;
/// shapes and values, in the main graph, of what is a graph input, a constant or the output of another layer.
/// Kernels judge the others when they see them. fed are the graph inputs that are given values: their
/// initializers do not count. inferred holds the outputs of layers. computed: as for check_model.
CheckResult check_before_run(const onnx_io::Model& model, const std::unordered_set<std::string>& fed,
                             const ComputedValues& computed = {});

/// Throws Error(invalid_model) with the first error and the number of the others.
void require_no_errors(const CheckResult& result);

}  // namespace grurun::opset
