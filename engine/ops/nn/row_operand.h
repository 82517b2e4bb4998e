// An operand that broadcasts to a tensor which is walked in rows: the factor or summand of each row.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace grurun::engine {

/// C is float or double; the operand's type is C or a 16-bit float.
template <typename C>
class RowOperand {
 public:
  RowOperand() = default;

  /// operand for rows that are the elements of x from axis on. It must broadcast to x in one direction.
  RowOperand(const Tensor& operand, const Shape& x, std::size_t axis);

  /// The elements of row r, as many as a row has.
  const C* row(std::int64_t r) const { return values_.template data<C>() + r * step_; }

 private:
  Tensor values_;
  std::int64_t step_ = 0;  // 0: every row takes the same
};

}  // namespace grurun::engine
