// Memory that the processes of a pool share.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/error.h"

namespace grurun::conformance {

/// What workers and parent share. A worker takes the next job from the counter by itself and notes it in its
/// slot, so that the parent knows what a dead worker was at, without a message for every job.
struct Slot {
  std::atomic<std::uint64_t> job;      // job + 1; 0: none taken yet
  std::atomic<std::int64_t> began_ns;  // by PoolOptions::now
};

struct Board {
  std::atomic<std::uint64_t> next;
  std::atomic<std::uint64_t> workers;  // that have not ended
  Slot slots[];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class SharedBoard {
 public:
  explicit SharedBoard(std::size_t workers) : bytes_(sizeof(Board) + workers * sizeof(Slot)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) fail_internal("no memory to share with workers: {}", std::strerror(errno));
  }
  ~SharedBoard() { munmap(memory_, bytes_); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  Board* operator->() const { return static_cast<Board*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

}  // namespace grurun::conformance
