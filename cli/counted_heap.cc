// The program's operator new and delete: once a run begins, what they give counts within --max-memory. A part
// of the program and of no library, since a program has one operator new. The sanitizers bring their own.
#include "tensor/memory/heap.h"
#include "tensor/sanitizers.h"

#if defined(__GLIBC__) && !GRURUN_ASAN && !GRURUN_TSAN
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

using grurun::memory::counts_heap;
using grurun::memory::note_heap;

// What malloc keeps beside each block.
constexpr std::size_t malloc_header = sizeof(std::size_t);

std::ptrdiff_t counted_size(void* data) {
  return static_cast<std::ptrdiff_t>(malloc_usable_size(data) + malloc_header);
}

void* take_counted(std::size_t size) {
  if (size > PTRDIFF_MAX / 2 || !note_heap(static_cast<std::ptrdiff_t>(size))) throw std::bad_alloc();
  void* const data = std::malloc(size);
  if (data == nullptr) {
    note_heap(-static_cast<std::ptrdiff_t>(size));
    throw std::bad_alloc();
  }
  // malloc may give a little more; as much is given back.
  note_heap(counted_size(data) - static_cast<std::ptrdiff_t>(size));
  return data;
}

}  // namespace

void* operator new(std::size_t size) {
  size = std::max<std::size_t>(size, 1);
  if (counts_heap()) return take_counted(size);
  if (void* const data = std::malloc(size)) return data;
  throw std::bad_alloc();
}

void operator delete(void* data) noexcept {
  if (data != nullptr && counts_heap()) note_heap(-counted_size(data));
  std::free(data);
}

void operator delete(void* data, std::size_t) noexcept {
  operator delete(data);
}
#endif
