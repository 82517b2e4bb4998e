// What two models have in common and in what they differ: what they consist of, and what they make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/compare.h"
#include "trial/random_values.h"
#include "trial/tolerance.h"
#include "trial/weight_relation.h"

namespace grurun::trial {

/// A thing that both models have or one alone, where they differ; empty text: that side has none.
struct Difference {
  std::string what;  // "opset ai.onnx", "input 'x'", "epsilon of node 'norm' (LayerNormalization)"
  std::string a, b;
};

struct WeightPair {
  std::string a, b;  // names
  WeightRelation relation;
};

struct ModelDiff {
  std::size_t nodes_a = 0, nodes_b = 0, paired = 0;
  std::vector<Difference> imports, values,
      attributes;                           // opsets; inputs and outputs; of nodes that are paired
  std::vector<std::string> only_a, only_b;  // nodes
  std::vector<WeightPair> weights;          // that are not equal
  std::size_t equal_weights = 0;
  std::vector<std::string> weights_only_a, weights_only_b;

  bool is_empty() const;
};

/// Nodes of one operator are paired where their outputs are (Pairing); weights by the inputs of paired nodes
/// that they are, and by name.
ModelDiff diff_models(const onnx_io::Model& a, const onnx_io::Model& b);

/// One output, b's against a's.
struct OutputDiff {
  std::string name;
  Comparison comparison;
};

/// Both models on the same inputs.
struct RunDiff {
  std::map<std::string, std::int64_t> sizes;  // of open dimensions
  std::vector<OutputDiff> outputs;
  std::string failed;  // one of them does not run: which, and why

  bool is_same() const;
};

/// Runs both; outputs are paired by name, or else by place. cast: values of other floating types are compared
/// in double. inputs[i] belongs to a.graph.inputs[i].
RunDiff diff_runs(const onnx_io::Model& a, const onnx_io::Model& b, const std::vector<Value>& inputs,
                  const Tolerances& tolerances, std::uint64_t seed);

}  // namespace grurun::trial
