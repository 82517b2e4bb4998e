// Walking all indices of a shape in row-major order while keeping linear offsets into several tensors: for
// operators that cannot be put as a strided copy. No division happens per element.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/memory/scratch.h"
#include "tensor/shape.h"

namespace grurun::engine {

/// Calls body(index, offsets) for every index of shape; offsets[k] = sum(index[d] * strides[k][d]).
template <std::size_t N, typename Body>
void for_each_index(const Shape& shape, const std::array<ScratchVector<std::int64_t>, N>& strides,
                    Body&& body) {
  const std::int64_t count = shape.element_count();
  ScratchVector<std::int64_t> index(shape.rank(), 0);
  std::array<std::int64_t, N> offsets{};
  for (std::int64_t n = 0; n < count; ++n) {
    body(static_cast<const ScratchVector<std::int64_t>&>(index),
         static_cast<const std::array<std::int64_t, N>&>(offsets));
    for (std::size_t d = shape.rank(); d-- > 0;) {
      for (std::size_t k = 0; k < N; ++k) offsets[k] += strides[k][d];
      if (++index[d] < shape[d]) break;
      for (std::size_t k = 0; k < N; ++k) offsets[k] -= strides[k][d] * shape[d];
      index[d] = 0;
    }
  }
}

}  // namespace grurun::engine
