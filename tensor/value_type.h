// What a model says about a value: its type, and its shape as far as it is known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace grurun {

/// A dimension that is a number, a name ("batch"), or unknown (neither).
struct Dim {
  std::optional<std::int64_t> value;
  std::string name;

  bool operator==(const Dim&) const = default;
};

using SymbolicShape = std::vector<Dim>;

/// Of these numbers.
SymbolicShape symbolic_shape(const Shape& shape);

/// TypeProto in plain form. tensor: elem and shape. sequence, optional: element. map: key and element.
struct ValueType {
  enum class Kind { unknown, tensor, sparse_tensor, sequence, optional, map };

  Kind kind = Kind::unknown;
  DType elem = DType::undefined;             // tensor, sparse_tensor; the key's type for map
  std::optional<SymbolicShape> shape;        // tensor, sparse_tensor; nullopt: rank unknown
  std::shared_ptr<const ValueType> element;  // sequence, optional, map

  static ValueType tensor(DType elem, std::optional<SymbolicShape> shape = std::nullopt);
  static ValueType sequence(ValueType element);
  static ValueType optional(ValueType element);
  static ValueType map(DType key, ValueType element);

  /// ONNX's spelling: "tensor(float)", "seq(tensor(int64))", "optional(...)", "map(int64,tensor(float))".
  std::string to_string() const;
  /// The same, and the shape where there is one: "tensor(float) [batch,3]".
  std::string describe() const;
};

/// The type that ValueType::to_string spells; nullopt for any other text.
std::optional<ValueType> parse_value_type(std::string_view text);

/// False where one type contradicts the other in kind or element type, all the way in; what is unknown or
/// undefined on either side contradicts nothing. Shapes are not compared.
bool may_be_one(const ValueType& a, const ValueType& b);

/// "[batch,3,?]".
std::string to_string(const SymbolicShape& shape);

}  // namespace grurun
