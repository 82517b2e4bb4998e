#include "engine/graph/node_preparation.h"

#include <algorithm>

#include "engine/graph/node_rules.h"
#include "opset/pages/forms.h"

namespace grurun::engine {

using onnx_io::Attribute;
using onnx_io::AttributeType;

NodePreparation::NodePreparation(PlanBuilder& builder, Scope& scope, const onnx_io::Node& node,
                                 const std::vector<int>& inputs, int since_version,
                                 std::int64_t opset_version)
    : builder_(builder),
      scope_(scope),
      node_(node),
      inputs_(inputs),
      since_version_(since_version),
      opset_version_(opset_version),
      read_(node.attributes.size(), false) {}

const Tensor* NodePreparation::constant_input(std::size_t index) const {
  if (!has_input(index)) return nullptr;
  const Value* value = scope_.frame->constant(inputs_[index]);
  return value != nullptr && value->is_tensor() ? &value->tensor() : nullptr;
}

const Attribute* NodePreparation::find(const char* name) {
  for (std::size_t i = 0; i < node_.attributes.size(); ++i) {
    if (node_.attributes[i].name == name) {
      read_[i] = true;
      return &node_.attributes[i];
    }
  }
  return nullptr;
}

const Attribute* NodePreparation::attribute(const char* name, AttributeType type) {
  const Attribute* found = find(name);
  if (found != nullptr && found->type != type) {
    fail_invalid("attribute '{}' of {} must be {}, but is {}", name, op_label(node_, since_version_),
                 attribute_type_name(type), attribute_type_name(found->type));
  }
  return found;
}

std::shared_ptr<const Plan> NodePreparation::subgraph(const char* name) {
  const Attribute* found = attribute(name, AttributeType::graph);
  if (found == nullptr) fail_invalid("{} needs the attribute '{}'", op_label(node_, since_version_), name);
  bodies_.push_back(builder_.plan_subgraph(*found->graphs.at(0), scope_, node_.name + "." + name));
  return bodies_.back();
}

GradientPath NodePreparation::gradient_path(const GradientNames& names) {
  return find_gradient_path(builder_, scope_, node_, names);
}

std::shared_ptr<const Plan> NodePreparation::values_of(const std::vector<std::string>& names) {
  onnx_io::Graph returns;
  for (const std::string& name : names) {
    if (!scope_.find(name)) fail_invalid("'{}' is not defined before the node that needs its value", name);
    returns.outputs.push_back({name, {}});
  }
  bodies_.push_back(builder_.plan_subgraph(returns, scope_, node_.name));
  return bodies_.back();
}

void NodePreparation::require_all_read() const {
  for (std::size_t i = 0; i < read_.size(); ++i) {
    // consumed_inputs, of first versions: a promise about buffers, without effect on values.
    if (read_[i] || node_.attributes[i].name == "consumed_inputs") continue;
    if (opset::is_left_unread(node_, node_.attributes[i], since_version_)) continue;
    fail_unsupported("attribute '{}' of {} is not handled", node_.attributes[i].name,
                     op_label(node_, since_version_));
  }
}

}  // namespace grurun::engine
