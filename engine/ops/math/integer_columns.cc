#include "engine/ops/math/integer_columns.h"

#include <algorithm>

#include "engine/kernels/integer_dot.h"

namespace grurun::engine {

IntegerColumns::IntegerColumns(const Tensor& columns, std::int64_t K) : K_(K), values_(columns) {
  const auto values = columns.span<std::int16_t>();
  if (std::ranges::any_of(values, [](std::int16_t value) { return value < INT8_MIN || value > INT8_MAX; }))
    return;
  values_ = Tensor(DType::int8, columns.shape());
  std::ranges::transform(values, values_.mutable_data<std::int8_t>(),
                         [](std::int16_t value) { return static_cast<std::int8_t>(value); });
}

void IntegerColumns::dots(const std::int16_t* a, std::int64_t rows, std::int64_t first, std::int64_t count,
                          std::int64_t* out) const {
  if (values_.dtype() == DType::int8) {
    kernels::integer_dots(a, rows, values_.data<std::int8_t>() + first * K_, count, K_, out);
  } else {
    kernels::integer_dots(a, rows, values_.data<std::int16_t>() + first * K_, count, K_, out);
  }
}

}  // namespace grurun::engine
