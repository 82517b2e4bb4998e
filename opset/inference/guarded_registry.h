// ONNX's schemas as its shape inference gets to see them here: nothing a model says makes an inference
// function run away or end the whole inference, and the types of every node are judged on the way.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "onnx/defs/schema.h"
#include "opset/findings/rules.h"
#include "opset/inference/inference_model.h"

namespace grurun::opset {

/// What the registry found at one node; display is InferenceContext's name for it.
struct TypeFault {
  std::string display;
  const RuleInfo* rule;
  std::string section;  // empty: the rule's own
  std::string message;
};

/// Operators of this domain stand for what is not judged: their outputs have no type.
inline constexpr const char* opaque_domain = "grurun.not.judged";

/// Shapes of higher rank are taken for unknown.
inline constexpr int max_inferred_rank = 64;

class GuardedRegistry : public onnx::ISchemaRegistry {
 public:
  /// The model, which names the nodes, must outlive the registry.
  explicit GuardedRegistry(const InferenceModel& model);

  /// Copies of the schemas with guarded functions; nullptr beyond the newest opset known, too. They live as
  /// long as the registry.
  const onnx::OpSchema* GetSchema(const std::string& op_type, int max_version,
                                  const std::string& domain) const override;

  /// Each once.
  const std::vector<TypeFault>& faults() const { return faults_; }

 private:
  std::unique_ptr<const onnx::OpSchema> guard(const onnx::OpSchema& schema, int opset_version) const;
  void infer(const onnx::OpSchema& schema, int opset_version, onnx::InferenceContext& context) const;
  void infer_layer(const InferenceNode& node, const onnx::OpSchema& schema,
                   onnx::InferenceContext& context) const;
  /// The node of the model, where it is a GRU, RNN or LSTM of the standard or a layer of an added schema.
  const InferenceNode* find_layer(const onnx::OpSchema& schema, const onnx::InferenceContext& context) const;
  void bound_outputs(const onnx::OpSchema& schema, onnx::InferenceContext& context) const;
  /// Whether all types are admitted.
  bool judge(const SchemaInfo& schema, onnx::InferenceContext& context, bool outputs_too) const;
  void record(const onnx::InferenceContext& context, const RuleInfo& rule, std::string section,
              std::string message) const;

  const InferenceModel& model_;
  onnx::OpSchema opaque_;
  mutable std::map<std::pair<const onnx::OpSchema*, int>, std::unique_ptr<const onnx::OpSchema>> schemas_;
  mutable std::vector<TypeFault> faults_;
  mutable std::set<std::pair<std::string, std::string>> recorded_;
};

}  // namespace grurun::opset
