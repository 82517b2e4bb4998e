// Names while a plan is made: which slot a name means, in which frame, under which opset imports.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"

namespace grurun::engine {

/// The plan under construction: its slots, and the constants among them.
class Frame {
 public:
  Frame() : plan_(std::make_shared<Plan>()) {}

  Plan& plan() { return *plan_; }
  int new_slot();
  /// A slot that holds this value in every run.
  int new_constant(Value value);
  /// The value when the slot is a constant, else nullptr.
  const Value* constant(int slot) const;

  /// Works out lifetimes, fuses steps where it is allowed and hands the plan over; the frame is used up.
  std::shared_ptr<const Plan> finish(bool fuse);

  /// Slots that bodies of a step read besides its inputs, by step index.
  std::unordered_map<std::size_t, std::vector<int>> captured;

 private:
  std::shared_ptr<Plan> plan_;
  std::unordered_map<int, Value> constants_;
};

/// Attributes of a calling node, which attribute references inside a function's body name.
using AttributeBindings = std::map<std::string, onnx_io::Attribute>;

/// The names of one graph or one inlined function. Several scopes may share a frame.
struct Scope {
  Frame* frame = nullptr;
  Scope* enclosing =
      nullptr;  // names not found here are looked up there; nullptr for a main graph and a function
  const onnx_io::OpsetImports* imports = nullptr;
  std::shared_ptr<const AttributeBindings> attributes;  // nullptr outside functions
  const std::vector<onnx_io::Node>* nodes = nullptr;    // of the graph or function
  std::string path;                                     // "function.body/", put before node names in messages
  std::string called_by;  // the label of the operator whose body this is of; empty outside such
  int depth = 0;
  std::unordered_map<std::string, int> slots;  // no_slot: an input the caller omitted
  // By name, why there is no value: outputs of operators whose bodies do not make them.
  std::unordered_map<std::string, std::string> unmade;

  /// The slot of a name in this scope's frame; a name of an enclosing scope becomes a capture. nullopt when
  /// unknown.
  std::optional<int> find(const std::string& name);

  /// Binds a name; a second definition of it in this scope throws Error(invalid_model).
  void define(const std::string& name, int slot);
};

}  // namespace grurun::engine
