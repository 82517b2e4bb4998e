// The PrepareContext of one node of a plan under construction.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/graph/body_source.h"
#include "engine/graph/gradient_path.h"
#include "engine/graph/op_context.h"
#include "engine/graph/plan_builder.h"

namespace grurun::engine {

class NodePreparation final : public PrepareContext, public GradientScope, public BodyScope {
 public:
  NodePreparation(PlanBuilder& builder, Scope& scope, const onnx_io::Node& node,
                  const std::vector<int>& inputs, int since_version, std::int64_t opset_version);

  const std::string& domain() const override { return node_.domain; }
  const std::string& op_type() const override { return node_.op_type; }
  int since_version() const override { return since_version_; }
  std::int64_t opset_version() const override { return opset_version_; }

  std::size_t input_count() const override { return inputs_.size(); }
  std::size_t output_count() const override { return node_.outputs.size(); }
  bool has_input(std::size_t index) const override {
    return index < inputs_.size() && inputs_[index] != no_slot;
  }
  bool has_output(std::size_t index) const override {
    return index < node_.outputs.size() && !node_.outputs[index].empty();
  }
  const Tensor* constant_input(std::size_t index) const override;
  Arrangements& arrangements() override { return builder_.arrangements(); }
  const onnx_io::Attribute* attribute(const char* name, onnx_io::AttributeType type) override;
  std::shared_ptr<const Plan> subgraph(const char* name) override;
  GradientPath gradient_path(const GradientNames& names) override;
  std::shared_ptr<const Plan> values_of(const std::vector<std::string>& names) override;
  std::shared_ptr<const BodySource> source_of(const char* name) override;
  std::string output_name(std::size_t index) const override {
    return index < node_.outputs.size() ? node_.outputs[index] : std::string();
  }
  void make_constant(Value value) override { constant_ = std::move(value); }

  /// Throws Error(invalid_model or unsupported) when the node has an attribute that nothing read.
  void require_all_read() const;

  const std::vector<std::shared_ptr<const Plan>>& bodies() const { return bodies_; }
  /// What make_constant was given; empty when it was not called.
  const Value& constant_output() const { return constant_; }

 protected:
  const onnx_io::Attribute* find(const char* name) override;

 private:
  PlanBuilder& builder_;
  Scope& scope_;
  const onnx_io::Node& node_;
  const std::vector<int>& inputs_;
  int since_version_;
  std::int64_t opset_version_;
  std::vector<bool> read_;
  std::vector<std::shared_ptr<const Plan>> bodies_;
  Value constant_;
};

}  // namespace grurun::engine
