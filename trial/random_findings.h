// Sentences about outputs that depend on random values.
#pragma once

#include <string>
#include <unordered_map>

#include "onnx_io/models/model.h"
#include "opset/findings/finding.h"
#include "tensor/tensor.h"
#include "trial/random_outputs.h"

namespace grurun::trial {

/// What draws: "node 'drop' runs in training mode", "node 'noise' (RandomNormal-22) draws random values". A
/// node in a body or a function is named by the node of the main graph that holds or calls it.
std::string cause_of(const RandomOrigin& origin, const onnx_io::Model& model);

/// The sentence of a verdict on outputs of which only the distribution was checked: the cause, what it means,
/// and what to do. `allow` is how the user says that random values are wanted: "--random".
std::string unjudged_text(const std::string& cause, const std::string& allow);

/// A warning (RANDOM001) for each node of the main graph that an output's randomness comes from. inputs and
/// made: as find_random_outputs takes them. A Dropout whose training_mode is not known is not warned of.
void add_random_findings(const onnx_io::Model& model, const std::vector<Value>& inputs,
                         const std::unordered_map<std::string, Tensor>& made, opset::CheckResult& result,
                         const opset::OnFinding& on_finding = {});

/// Whether the model is a test of one random operator: that node, fed by the graph and by constants, or the
/// comparison that Bernoulli's function body is. What such an operator may give is known and checked whole.
bool tests_random_operator(const onnx_io::Model& model);

}  // namespace grurun::trial
