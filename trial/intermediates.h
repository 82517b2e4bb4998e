// The values between the nodes of a model, as they are made.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial {

/// A graph that values stand in: the main one, or a body while a node runs it.
struct Scope {
  const onnx_io::Graph* graph = nullptr;
  std::string path;              // "" or "loop/3/", which the names of its values begin with
  const Scope* outer = nullptr;  // nullptr: this is the main graph
};

/// A value that a node made, or that a body was given.
struct MadeValue {
  std::size_t node;  // its place among the nodes of the main graph: itself, or the one whose body it is
  const std::string& name;  // of the value: "h", "loop/3/h" (engine::BodyValue)
  const Value& value;
  const onnx_io::Node* maker;  // nullptr: an input of a body
  const Scope& scope;
};

/// The scopes of a model by their paths. The model must outlive it.
class Scopes {
 public:
  explicit Scopes(const onnx_io::Model& model);

  const Scope& main() const { return main_; }
  /// The scope of a path that a run of the model told, in which a node like `maker` makes `made`, or, without
  /// one, it is an input; nullptr: none.
  const Scope* find(const std::string& path, const std::string& made, const onnx_io::Node* maker);

 private:
  Scope main_;
  std::vector<std::unique_ptr<Scope>> bodies_;
  std::map<std::pair<std::string, const onnx_io::Graph*>, const Scope*> by_path_;
};

/// Runs the model node by node and shows what each node makes, when it is made, in bodies too; what calls of
/// functions make, at the end, and in bodies never; what Constant nodes make, never. inputs[i] belongs to
/// graph.inputs[i]. Throws what planning and running throw.
void run_seeing_values(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun,
                       const std::function<void(const MadeValue&)>& see);

/// Whether the name of a value fits one of the patterns: * stands for any characters, ? for one. No pattern:
/// all do.
bool fits_any(const std::string& name, const std::vector<std::string>& patterns);

/// What a path calls a node: its name, or that of its first output.
std::string path_name(const onnx_io::Node& node);

/// The node of the graph itself that makes a value; nullptr: none.
const onnx_io::Node* maker_of(const onnx_io::Graph& graph, const std::string& name);

/// Whether a name is one of the graph's own values, and not one of those around it.
bool defines(const onnx_io::Graph& graph, const std::string& name);

/// Whether the node is a Constant, whose value the plan holds.
bool is_constant(const onnx_io::Node& node);

/// "node 'norm_2' (LayerNormalization-17)"; path: of the scope that it stands in.
std::string label_of(const onnx_io::Model& model, const onnx_io::Node& node, const std::string& path = "");

}  // namespace grurun::trial
