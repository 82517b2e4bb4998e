// What flows along an edge of a graph: a tensor, a sequence, an optional or a map (onnx-ml.proto, TypeProto).
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/value_type.h"

namespace grurun {

class Value;

/// element is the type of each item; an empty sequence still has one.
struct Sequence {
  ValueType element;
  std::vector<Value> items;
};

/// element is the type of what may be inside; item holds nothing when the optional is empty.
struct Optional {
  ValueType element;
  std::shared_ptr<const Value> item;
};

/// keys is a 1-D tensor of an integer type or string; values[i] belongs to keys[i].
struct Map {
  ValueType value_type;
  Tensor keys;
  std::vector<Value> values;
};

/// A cheap handle: copies share what they hold. Default-constructed it holds nothing (an omitted optional
/// input).
class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : held_(std::move(tensor)) {}
  Value(Sequence sequence) : held_(std::make_shared<Sequence>(std::move(sequence))) {}
  Value(Optional optional) : held_(std::make_shared<const Optional>(std::move(optional))) {}
  Value(Map map) : held_(std::make_shared<const Map>(std::move(map))) {}

  Value(const Value&) = default;
  Value(Value&&) = default;
  Value& operator=(Value&&) = default;
  Value& operator=(const Value& other) {
    if (const auto* tensor = std::get_if<Tensor>(&other.held_); tensor != nullptr && empty()) {
      held_.emplace<Tensor>(*tensor);  // std::variant's own would move a copy of it
    } else {
      held_ = other.held_;
    }
    return *this;
  }

  void clear() {
    if (!empty()) held_.emplace<std::monostate>();
  }
  bool empty() const { return std::holds_alternative<std::monostate>(held_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(held_); }
  bool is_sequence() const { return std::holds_alternative<std::shared_ptr<Sequence>>(held_); }
  bool is_optional() const { return std::holds_alternative<std::shared_ptr<const Optional>>(held_); }
  bool is_map() const { return std::holds_alternative<std::shared_ptr<const Map>>(held_); }

  /// The held value; throws Error(invalid_model) naming both kinds when it is of another kind.
  const Tensor& tensor() const {
    if (const auto* held = std::get_if<Tensor>(&held_)) return *held;
    fail_no_tensor();
  }
  const Sequence& sequence() const;
  const Optional& optional() const;
  const Map& map() const;

  /// The held tensor, to be filled; throws as tensor() does.
  Tensor& mutable_tensor() {
    if (auto* held = std::get_if<Tensor>(&held_)) return *held;
    fail_no_tensor();
  }

  /// Gives the tensor away, leaving this empty, so that its buffer can be written in place.
  Tensor take_tensor();

  /// The same of the held sequence; its list is copied where another handle shares it.
  Sequence take_sequence();

  /// The type with its actual shape.
  ValueType type() const;

  /// "tensor(float) [2,3]", "seq(tensor(int64)) of 3", "nothing".
  std::string describe() const;

 private:
  [[noreturn]] void fail_no_tensor() const;

  // A sequence is changed only where one handle holds it.
  std::variant<std::monostate, Tensor, std::shared_ptr<Sequence>, std::shared_ptr<const Optional>,
               std::shared_ptr<const Map>>
      held_;
};

/// Every dimension of a shape as a known Dim.
SymbolicShape symbolic(const Shape& shape);

}  // namespace grurun
