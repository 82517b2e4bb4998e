// A graph by the names of its values: which node makes one, which are constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"
#include "onnx_io/models/walk.h"

namespace grurun::opset {

/// The tensor under `value` of a Constant of ai.onnx; nullptr for other nodes and other attributes.
const Tensor* constant_value(const onnx_io::Node& node);

class GraphView {
 public:
  using Types = std::map<std::string, ValueType>;

  /// Constants of outer graphs are seen. types are those of this graph's values, as far as they are known.
  /// All must outlive the view.
  explicit GraphView(const onnx_io::Graph& graph, const GraphView* outer = nullptr,
                     const Types* types = nullptr);
  /// A body of a Loop: what every iteration hands on as it got it is what the Loop got.
  static GraphView of_loop(const onnx_io::Node& loop, const onnx_io::Graph& body, const GraphView& outer);

  /// nullptr for what no node of this graph makes.
  const onnx_io::Producers::Producer* producer(const std::string& name) const {
    return producers_.find(name);
  }
  /// The node, if it is an operator of ai.onnx of this type; else nullptr.
  const onnx_io::Node* made_by(const std::string& name, std::string_view op_type) const;

  /// An initializer or the value of a Constant, here or in an outer graph, behind Identity, Cast and what
  /// only changes the shape; nullptr where there is none.
  const Tensor* constant(const std::string& name) const;
  /// A constant of int64 or int32, whatever its rank, also one that sums, products and quotients of integers
  /// make of constants and known sizes.
  std::optional<std::vector<std::int64_t>> integers(const std::string& name) const;
  /// The same of one element.
  std::optional<std::int64_t> integer(const std::string& name) const;
  /// The number that all elements of a floating-point value are: of a constant of up to 2^16 elements, of
  /// what Expand or ConstantOfShape make of one.
  std::optional<double> uniform(const std::string& name) const;
  /// The one element of a floating-point constant.
  std::optional<double> number(const std::string& name) const;

  bool is_boolean(const std::string& name) const;

  /// The value behind Identity, Cast, CastLike, Reshape, Squeeze, Unsqueeze and Flatten.
  const std::string& plain(const std::string& name) const;

 private:
  using Integers = std::vector<std::optional<std::int64_t>>;

  Integers known_integers(const std::string& name, int levels) const;
  Integers sizes(const onnx_io::Node& shape) const;
  Integers combined(const onnx_io::Node& node, int levels) const;
  bool is_no_float(const std::string& name) const;
  const ValueType* type_of(const std::string& name) const;

  onnx_io::Producers producers_;
  std::unordered_map<std::string_view, const Tensor*> constants_;
  std::unordered_map<std::string_view, const std::string*> handed_on_;  // names in the outer graph
  std::deque<Tensor> numbers_;  // of Constants that have them as attributes of their own
  const GraphView* outer_;
  const Types* types_;
};

}  // namespace grurun::opset
