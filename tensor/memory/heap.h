// What else than the blocks of tensors takes memory: lists of values, the characters of strings. A program
// that replaces operator new (cli/counted_heap.cc) has it counted within the limit of tensor memory.
#pragma once

#include <atomic>
#include <cstddef>

namespace grurun::memory {

/// So many bytes of it are free: what a plan and its frames take.
inline constexpr std::ptrdiff_t free_heap = std::ptrdiff_t{16} << 20;

namespace detail {
inline std::atomic<bool> heap_is_counted{false};
}

/// What is taken and given back from now on is counted.
void begin_counting_heap();

inline bool counts_heap() {
  return detail::heap_is_counted.load(std::memory_order_relaxed);
}

/// What std::bad_alloc means to a user.
inline const char* out_of_memory_text() {
  return counts_heap() ? "out of memory, or strings and lists of values would pass --max-memory"
                       : "out of memory";
}

/// Notes bytes that the calling thread is about to take, or, below zero, gave back. False, and nothing noted,
/// where they would pass the limit. A thread tells of its bytes when they are many: some may be told late.
bool note_heap(std::ptrdiff_t bytes) noexcept;

}  // namespace grurun::memory
