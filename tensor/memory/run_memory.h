// The memory of runs that ask for the same blocks each time. What blocks one run takes, and when it gives
// them back, is recorded; blocks that are never held together then share places in one area, which serves the
// runs that follow.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tensor/memory/memory.h"

namespace grurun::memory {

/// Memory in which blocks lie, cut into segments where a block begins or ends. It lives as long as anyone
/// uses it: the blocks and the RunMemory that made it.
class Area {
 public:
  Area(std::size_t bytes, std::size_t segments);
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  std::byte* data() const { return reserve_.data(); }
  std::size_t size() const { return reserve_.size(); }

  /// Takes segments for a block of so many bytes at data; false when one of them is taken. By one thread at a
  /// time.
  bool occupy(void* data, std::size_t bytes, std::uint32_t first, std::uint32_t segments);
  /// On any thread.
  void release_segments(void* data, std::size_t bytes, std::uint32_t first, std::uint32_t segments);
  /// Ends the use by its maker.
  void end_use();

 private:
  ~Area();

  Reserve reserve_;
  std::unique_ptr<std::atomic<bool>[]> taken_;  // by segment
  std::atomic<std::size_t> users_ = 1;
};

/// Where a block lies; without data: nowhere.
struct Place {
  void* data = nullptr;
  std::size_t bytes = 0;
  Area* area = nullptr;
  std::uint32_t first = 0;
  std::uint32_t segments = 0;
};

/// Records the blocks of a run, lays them out, hands out their places. A run consists of steps; the i-th
/// block of a step gets the place of the i-th block that the recorded run took in that step, if it fits and
/// nobody holds a block there: what a caller kept of an earlier run is never written over. Every other block,
/// and every block of another thread, comes from the allocator.
class RunMemory {
 public:
  RunMemory() = default;
  ~RunMemory() { forget(); }
  RunMemory(const RunMemory&) = delete;
  RunMemory& operator=(const RunMemory&) = delete;

  /// Blocks that the calling thread takes while this lives are those of a run.
  class Run {
   public:
    explicit Run(RunMemory* memory);  // nullptr: of none
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    RunMemory* const before_;
  };

  /// The run that comes is recorded, in place of what was before. Steps then begin in the order of their
  /// numbers, from 0.
  void record();
  /// Lays out what was recorded; the runs that come are served. Error(limit) when there is no memory for it.
  void assign_places();
  /// Back to the beginning: places are given up.
  void forget();

  void begin_step(std::size_t step) {
    if (state_ == State::recording) {
      if (step == first_of_step_.size()) first_of_step_.push_back(taken_.size());
    } else if (step + 1 < first_of_step_.size()) {
      next_ = first_of_step_[step];
      end_ = first_of_step_[step + 1];
    }
  }

  /// What the areas hold together.
  std::size_t size() const;

  // For Block.
  static thread_local constinit RunMemory* current;
  Place place_for(std::size_t bytes);
  void note_taken(const void* data, std::size_t bytes);
  void note_given_back(const void* data);

 private:
  struct Taken {
    std::size_t bytes;
    std::uint32_t begin, end;  // moments; held from one up to the other
    std::size_t offset;
  };

  std::size_t assign_offsets(std::vector<std::uint32_t>& order);

  enum class State { idle, recording, serving };
  State state_ = State::idle;
  std::vector<std::size_t> first_of_step_;  // among the blocks, and their number at the end
  std::size_t next_ = 0;
  std::size_t end_ = 0;  // of the step

  std::vector<Taken> taken_;
  std::unordered_map<const void*, std::size_t> held_;
  std::uint32_t now_ = 0;

  std::vector<Place> places_;
  std::vector<Area*> areas_;
};

}  // namespace grurun::memory
