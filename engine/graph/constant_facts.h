#pragma once

#include <utility>
#include <vector>

#include "engine/graph/scope.h"
#include "opset/pages/node_facts.h"
#include "tensor/value_type.h"

namespace grurun::engine {

/// What constants alone tell of a node's inputs; must outlive the facts that it gives.
class ConstantFacts {
 public:
  ConstantFacts(const std::vector<int>& slots, const Scope& scope) {
    for (const int slot : slots) {
      const Value* constant = slot == no_slot ? nullptr : scope.frame->constant(slot);
      const bool known = constant != nullptr && constant->is_tensor();
      values_.push_back(known ? &constant->tensor() : nullptr);
      opset::InputFacts facts;
      facts.given = slot != no_slot;
      if (known) facts = {true, values_.back()->dtype(), symbolic_shape(values_.back()->shape())};
      inputs_.push_back(std::move(facts));
    }
  }

  opset::NodeFacts of(const onnx_io::Node& node, int since_version) const {
    return {node, since_version, inputs_, [this](std::size_t i) { return values_[i]; }};
  }

 private:
  std::vector<const Tensor*> values_;
  std::vector<opset::InputFacts> inputs_;
};

}  // namespace grurun::engine
