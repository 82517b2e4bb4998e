// Which outputs of a model depend on a random operator, so that no generator's values can be compared.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::trial {

/// Where an output's randomness comes from.
struct RandomOrigin {
  std::string op_type;  // the random operator: "Bernoulli", "Dropout", ...
  const onnx_io::Node* node =
      nullptr;             // that node, when the output is directly one of its outputs in the main graph
  std::size_t output = 0;  // which of them
  std::vector<Tensor>
      inputs;  // of node: fed, initialized or Constant ones; undefined when not known before a run
  const onnx_io::Node* drawn = nullptr;  // the node that draws, in a body or a function, too
  const onnx_io::Node* place = nullptr;  // that node, or the node of the main graph that holds or calls it

  Tensor input(std::size_t i) const { return i < inputs.size() ? inputs[i] : Tensor(); }
};

/// Random are Bernoulli, Multinomial, RandomNormal, RandomUniform and their Like forms (ai.onnx), Sampling
/// (com.microsoft), and Dropout where it trains: is_test = 0 before version 7, never from 7 to 11, a
/// training_mode that is true or not known since 12; with a ratio known to be 0 it is not random. What is
/// computed from a random value is random, but for Shape and Size. Bodies of If, Loop, Scan, SequenceMap and
/// model-local functions are followed output by output. Of the schemas' function bodies only Bernoulli's
/// holds a random operator.
///
/// inputs[i] is what graph.inputs[i] is fed with (empty: not fed); made: what a run has made of the
/// deciding_values, by name. The result has one entry for each graph output and points into model.
std::vector<std::optional<RandomOrigin>> find_random_outputs(
    const onnx_io::Model& model, const std::vector<Value>& inputs,
    const std::unordered_map<std::string, Tensor>& made = {});

/// The same, without what depends on a Dropout of whose training_mode nothing is known.
std::vector<std::optional<RandomOrigin>> find_surely_random_outputs(
    const onnx_io::Model& model, const std::vector<Value>& inputs,
    const std::unordered_map<std::string, Tensor>& made);

/// Whether the node draws in training only: a Dropout.
bool trains(const onnx_io::Node& node);

/// Names of values that nodes of the main graph make, and that decide whether a Dropout there draws, or of
/// what an output is drawn.
std::unordered_set<std::string> deciding_values(const onnx_io::Model& model);

/// True when a node of one of these types is anywhere in the model, bodies and functions included.
bool has_random_operator(const onnx_io::Model& model);

}  // namespace grurun::trial
