// The types that one version of an operator admits for an input or output, in a form that a run compares
// fast.
#pragma once

#include "tensor/dtype.h"
#include "tensor/value.h"

namespace grurun::opset {

/// Sets of element types, by what holds them; an empty set admits none of the kind.
struct ParameterTypes {
  DTypeSet tensors;             // tensor(...)
  DTypeSet sequences;           // seq(tensor(...))
  DTypeSet optionals;           // optional(tensor(...))
  DTypeSet optional_sequences;  // optional(seq(tensor(...)))
  bool maps;                    // any map(...): kernels judge what it holds

  /// Whether the value, which must not be empty, has one of the types.
  bool admits(const Value& value) const;
};

}  // namespace grurun::opset
