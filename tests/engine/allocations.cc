#include "tests/engine/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "tensor/sanitizers.h"

#if defined(__GLIBC__) && !GRURUN_ASAN && !GRURUN_TSAN
#define GRURUN_COUNTS_ALLOCATIONS 1
#else
#define GRURUN_COUNTS_ALLOCATIONS 0
#endif

namespace {

std::atomic<std::uint64_t> calls{0};

}  // namespace

#if GRURUN_COUNTS_ALLOCATIONS
// The names under which glibc's own allocator stays within reach when a program defines malloc.
// NOLINTBEGIN
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  *to = memalign(alignment, bytes);
  return *to == nullptr ? ENOMEM : 0;
}
}
// NOLINTEND
#endif

namespace grurun::engine::testing {

bool counts_allocations() {
  return GRURUN_COUNTS_ALLOCATIONS;
}

std::uint64_t allocations() {
  return calls.load(std::memory_order_relaxed);
}

}  // namespace grurun::engine::testing
