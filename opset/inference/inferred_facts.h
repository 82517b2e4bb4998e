// What an inference context knows of a node, for the rules of its page.
#pragma once

#include <map>

#include "onnx/defs/schema.h"
#include "opset/pages/node_facts.h"

namespace grurun::opset {

class InferredFacts {
 public:
  /// The context must outlive the facts.
  InferredFacts(const onnx::OpSchema& schema, const onnx::InferenceContext& context);
  InferredFacts(const InferredFacts&) = delete;
  InferredFacts& operator=(const InferredFacts&) = delete;

  const NodeFacts& facts() const { return facts_; }

 private:
  const Tensor* find_value(std::size_t input);

  const onnx::InferenceContext& context_;
  onnx_io::Node node_;
  std::map<std::size_t, Tensor> values_;  // those that were asked for; of no type: not known
  NodeFacts facts_;
};

}  // namespace grurun::opset
