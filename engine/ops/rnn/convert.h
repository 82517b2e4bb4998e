// Between the type that elements are stored in and the type they are computed in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace grurun::engine::rnn {

template <typename From, typename To>
void convert(const From* from, std::int64_t count, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    std::copy_n(from, count, to);
  } else {
    std::transform(from, from + count, to, [](From value) { return static_cast<To>(value); });
  }
}

}  // namespace grurun::engine::rnn
