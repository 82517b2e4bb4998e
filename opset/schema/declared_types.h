// Whether two statements of a value's type contradict each other; what is unknown on one side does not.
#pragma once

#include "tensor/value_type.h"

namespace grurun::opset {

inline bool same_shape(const ValueType& a, const ValueType& b) {
  if (a.shape && b.shape) {
    if (a.shape->size() != b.shape->size()) return false;
    for (std::size_t i = 0; i < a.shape->size(); ++i) {
      const auto& x = (*a.shape)[i].value;
      const auto& y = (*b.shape)[i].value;
      if (x && y && *x != *y) return false;
    }
  }
  return !a.element || !b.element || same_shape(*a.element, *b.element);
}

}  // namespace grurun::opset
