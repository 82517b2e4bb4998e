// Of a graph, what pairing asks: who makes a value, who reads it, and what it comes from.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx_io/models/model.h"
#include "onnx_io/models/walk.h"

namespace grurun::trial {

class GraphSources {
 public:
  /// outer: the graph around a body; nullptr: there is none. Both must outlive this.
  explicit GraphSources(const onnx_io::Graph& graph, const GraphSources* outer = nullptr);

  const onnx_io::Graph& graph() const { return graph_; }
  const GraphSources* outer() const { return outer_; }
  /// Whether the name is the graph's own, and not one around it.
  bool owns(const std::string& name) const;

  /// The node that makes it, here or around; nullptr: none.
  const onnx_io::Node* maker(const std::string& name) const;
  /// The constant's tensor; nullptr: it is none that the file holds.
  const Tensor* constant(const std::string& name) const;
  /// Whether constants alone make it: a weight, or one that a DequantizeLinear makes.
  bool is_weight(const std::string& name) const;
  /// What the value is but for its type and what storing it costs.
  std::string source(std::string name) const;
  /// Nodes of this graph that read the value, or what it is seen through.
  std::vector<const onnx_io::Node*> readers(const std::string& name) const;

 private:
  /// The graph that defines the name.
  const GraphSources& scope_of(const std::string& name) const;
  /// The value before a node that is seen through; nullptr: it is not.
  const std::string* seen_through(const onnx_io::Node& node) const;

  const onnx_io::Graph& graph_;
  const GraphSources* outer_;
  onnx_io::Producers producers_;
  onnx_io::InitializerIndex initializers_;
  std::unordered_set<std::string_view> inputs_;
  std::unordered_set<std::string_view> weights_;  // that nodes make
  std::unordered_map<std::string, std::vector<const onnx_io::Node*>> readers_;
};

}  // namespace grurun::trial
