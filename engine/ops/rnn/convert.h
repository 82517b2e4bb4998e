// Between the type that elements are stored in and the type they are computed in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/kernels/vec/vec_convert.h"

namespace grurun::engine::rnn {

/// Real is T, or float for the 16-bit floats.
template <typename From, typename To>
void convert(const From* from, std::int64_t count, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    std::copy_n(from, count, to);
  } else {
    kernels::vec_convert(from, to, count);
  }
}

}  // namespace grurun::engine::rnn
