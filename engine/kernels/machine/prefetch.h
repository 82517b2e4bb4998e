// Asking for memory before it is read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace grurun::kernels {

/// Asks for rows of `bytes` each, `step` bytes apart, so far that no processor finds out by itself where the
/// next one lies.
inline void ask_for_rows(const std::byte* first, int64_t step, int64_t rows, int64_t bytes) {
  constexpr int64_t line = 64;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t at = 0; at < bytes; at += line) __builtin_prefetch(first + r * step + at, 0, 2);
  }
}

}  // namespace grurun::kernels
