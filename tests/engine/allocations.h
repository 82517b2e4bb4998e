// Counts what is taken from the heap, to show that a steady run takes nothing.
#pragma once

#include <cstdint>

namespace grurun::engine::testing {

/// False where something else stands in for the allocator (the sanitizers), or is not glibc's.
bool counts_allocations();

/// Calls of malloc and its kin so far, by all threads; operator new and tensor memory come down to them.
std::uint64_t allocations();

/// How many of them body makes.
template <typename Body>
std::uint64_t allocations_of(Body&& body) {
  const std::uint64_t before = allocations();
  body();
  return allocations() - before;
}

}  // namespace grurun::engine::testing
