// Reads the values of a graph as sums, products and activations, past what only passes them on or takes
// parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opset/graph_view.h"

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

/// What a function of the standard's text made of a sum.
struct Activation {
  std::string function;  // as the text spells it
  std::string value;     // what it gives
  std::string input;
  std::optional<std::int64_t> part = std::nullopt;  // which of value's was asked for
};

/// MatMul or Gemm by a constant.
struct Product {
  const onnx_io::Node* node = nullptr;
  std::string left;    // behind what only changes the shape
  std::string weight;  // constant, behind Transpose
  const Tensor* tensor = nullptr;
  bool transposed = false;  // the constant's last axis is summed over, not the one before

  /// How many terms an element sums, and how many elements a row has; nullopt where the constant is no matrix
  /// but for leading axes of size 1.
  std::optional<std::int64_t> summed() const { return side(transposed); }
  std::optional<std::int64_t> width() const { return side(!transposed); }

 private:
  std::optional<std::int64_t> side(bool last) const;
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

  /// One of the functions that the standard's text lists, of which the value may be a part. A HardSigmoid may
  /// be written as Clip, with its numbers before or behind it: relu6(x + 3) / 6.
  std::optional<Activation> activation(const std::string& name) const;

  std::vector<Term> terms(const std::string& name) const;
  std::optional<Product> product(const std::string& name) const;

 private:
  std::optional<Activation> function_of(const std::string& value) const;
  std::optional<Activation> hard_sigmoid(const std::string& value) const;
  std::optional<std::pair<std::string, double>> scaled(const std::string& value) const;
  bool take_part(Term& term) const;
  bool take_slice(const Node& node, Term& term) const;

  const GraphView& graph_;
};

}  // namespace grurun::opset
