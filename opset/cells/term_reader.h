// Reads the values of a graph as sums, products and activations, past what only passes them on or takes
// parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opset/cells/activation_pattern.h"
#include "opset/pages/graph_view.h"

namespace grurun::opset {

/// A part of a value along some axis: output number index of a Split, or what Gather, Slice or SequenceAt
/// take.
struct Selection {
  std::string source;
  std::int64_t index;
};

/// A term of a sum: a value that is no sum itself, and the parts taken on the way to it, outermost first.
struct Term {
  std::string name;
  std::vector<Selection> parts;
  bool flipped = false;  // an odd number of reversals lies on that way: Slice of step -1, ReverseSequence
};

/// MatMul or Gemm by a constant or a part of one.
struct Product {
  const onnx_io::Node* node = nullptr;
  std::string left;    // behind what only changes the shape
  std::string weight;  // constant, behind Transpose and Slice
  const Tensor* tensor = nullptr;
  /// How many terms an element sums, and how many elements a row has; nullopt where the constant is no matrix
  /// but for leading axes of size 1.
  std::optional<std::int64_t> summed, width;
  std::optional<std::int64_t> first;  // where a row of less than the constant has begins in it
};

/// An activation, and which part of it a value is.
struct Activated : Activation {
  std::string value;  // the whole
  std::optional<std::int64_t> place;
};

class TermReader {
 public:
  using Node = onnx_io::Node;

  explicit TermReader(const GraphView& graph) : graph_(graph) {}

  const GraphView& graph() const { return graph_; }
  bool same(const std::string& a, const std::string& b) const { return graph_.plain(a) == graph_.plain(b); }
  bool is_constant(const std::string& name) const { return graph_.constant(name) != nullptr; }

  /// The node of that type that makes a value, nullptr if another does; all its inputs are given.
  const Node* op(const std::string& name, std::string_view op_type) const;
  /// The same with two inputs.
  const Node* binary(const std::string& name, std::string_view op_type) const;

  /// One of the functions that the standard's text lists; the value may be a part of what it gives.
  std::optional<Activated> activated(const std::string& name) const;

  std::vector<Term> terms(const std::string& name) const;
  std::optional<Product> product(const std::string& name) const;

 private:
  bool take_part(Term& term) const;
  bool take_slice(const Node& node, Term& term) const;
  bool take_columns(const Node& slice, bool transposed, Product& product) const;

  const GraphView& graph_;
};

}  // namespace grurun::opset
