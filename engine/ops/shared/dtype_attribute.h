// The attribute that chooses the element type of an output.
#pragma once

#include <optional>

#include "engine/graph/op_context.h"
#include "tensor/dtype.h"

namespace grurun::engine {

/// The element type that an attribute names by its number; nullopt without the attribute. Throws
/// Error(invalid_model) for one that is not admitted.
inline std::optional<DType> dtype_attribute(PrepareContext& node, const char* name, DTypeSet admitted) {
  const auto stated = node.optional_int(name);
  if (!stated) return std::nullopt;
  if (!is_valid_dtype(*stated)) refuse();
  const auto dtype = static_cast<DType>(*stated);
  if (!admitted.contains(dtype)) refuse();
  return dtype;
}

}  // namespace grurun::engine
