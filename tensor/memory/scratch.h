// Lists that live within a run of an operator: their memory is kept by the thread for the next run, so that a
// run that repeats takes none from the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "tensor/memory/memory.h"

namespace grurun::memory {

/// An allocator of the standard library over take() and give_back(). Throws std::bad_alloc.
template <typename T>
struct ScratchAllocator {
  using value_type = T;

  ScratchAllocator() = default;
  template <typename Other>
  ScratchAllocator(const ScratchAllocator<Other>&) {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 64);
    void* const data =
        count <= static_cast<std::size_t>(PTRDIFF_MAX) / 2 / sizeof(T) ? take(count * sizeof(T)) : nullptr;
    if (data == nullptr) throw std::bad_alloc();
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t count) { give_back(data, count * sizeof(T)); }

  bool operator==(const ScratchAllocator&) const { return true; }
};

}  // namespace grurun::memory

namespace grurun {

template <typename T>
using ScratchVector = std::vector<T, memory::ScratchAllocator<T>>;
template <typename Key, typename T>
using ScratchMap = std::map<Key, T, std::less<Key>, memory::ScratchAllocator<std::pair<const Key, T>>>;
template <typename Key>
using ScratchSet = std::set<Key, std::less<Key>, memory::ScratchAllocator<Key>>;

}  // namespace grurun
