// ONNX's shape inference over a whole model, and what it found.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "opset/findings/rules.h"
#include "opset/inference/inference_model.h"
#include "tensor/value_type.h"

namespace grurun::opset {

struct InferenceFault {
  std::optional<std::size_t> node;  // number in the model's nodes
  const RuleInfo* rule;
  std::string section;  // empty: the rule's own
  std::string message;
  bool with_declared;  // an inferred type or shape differs from a declared one
};

struct Inference {
  InferenceModel model;  // annotated: value_info of every graph holds what was inferred
  std::vector<InferenceFault> faults;
};

/// Never throws for what a model says. Calls and nesting must be bounded (check_limits). sizes gives the
/// named dimensions of what the main graph declares a size. Declarations that are wrong are left out.
Inference infer_model(const onnx::ModelProto& original, const CheckReport& report, bool keep_declared,
                      const ComputedProtos& computed = {},
                      const std::map<std::string, std::int64_t>& sizes = {},
                      const WrongDeclarations& wrong = {});

/// Inferred and declared types of the values of an annotated graph; dimensions that inference named itself
/// are unknown.
std::map<std::string, ValueType> graph_types(const onnx::GraphProto& annotated);

}  // namespace grurun::opset
