#include "tensor/memory.h"

#include <atomic>
#include <cstdlib>

#include "tensor/error.h"

namespace grurun::memory {

namespace {

constexpr std::size_t alignment = 64;
std::atomic<std::size_t> held{0};
std::atomic<std::size_t> most{0};
std::atomic<std::size_t> limit{0};

void count(std::size_t bytes) {
  const std::size_t cap = limit.load(std::memory_order_relaxed);
  const std::size_t before = held.fetch_add(bytes, std::memory_order_relaxed);
  if (cap != 0 && (before > cap || bytes > cap - before)) {
    held.fetch_sub(bytes, std::memory_order_relaxed);
    fail(ErrorKind::limit, "tensor memory: {} bytes more than the {} in use would pass the limit of {} bytes",
         bytes, before, cap);
  }
  std::size_t peak_before = most.load(std::memory_order_relaxed);
  while (before + bytes > peak_before &&
         !most.compare_exchange_weak(peak_before, before + bytes, std::memory_order_relaxed)) {
  }
}

}  // namespace

std::size_t in_use() {
  return held.load(std::memory_order_relaxed);
}
std::size_t peak() {
  return most.load(std::memory_order_relaxed);
}
void set_limit(std::size_t bytes) {
  limit.store(bytes, std::memory_order_relaxed);
}

Block::Block(std::size_t bytes) : data_(nullptr), bytes_(bytes) {
  if (bytes > PTRDIFF_MAX - alignment)
    fail(ErrorKind::limit, "a tensor of {} bytes cannot be held in memory", bytes);
  count(bytes);
  data_ = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (data_ == nullptr) {
    held.fetch_sub(bytes, std::memory_order_relaxed);
    fail(ErrorKind::limit, "out of memory for a tensor of {} bytes", bytes);
  }
}

Block::~Block() {
  std::free(data_);
  held.fetch_sub(bytes_, std::memory_order_relaxed);
}

}  // namespace grurun::memory
