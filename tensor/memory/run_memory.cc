#include "tensor/memory/run_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tensor/sanitizers.h"

#if GRURUN_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace grurun::memory {

namespace {

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
// More blocks than these are not recorded, nor laid out, the largest first: the rest does without.
constexpr std::size_t most_recorded = 100'000;
constexpr std::size_t most_placed = 4096;

// The address sanitizer is told which bytes are held, and finds some that never are between two blocks.
#if GRURUN_ASAN
constexpr std::size_t gap = 64;
void forbid(void* data, std::size_t bytes) {
  __asan_poison_memory_region(data, bytes);
}
void allow(void* data, std::size_t bytes) {
  __asan_unpoison_memory_region(data, bytes);
}
#else
constexpr std::size_t gap = 0;
void forbid(void*, std::size_t) {}
void allow(void*, std::size_t) {}
#endif

// What a block takes of an area, so that the next one is aligned as it is.
std::size_t room(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + gap + 63) / 64 * 64;
}

}  // namespace

Area::Area(std::size_t bytes, std::size_t segments)
    : reserve_(bytes), taken_(std::make_unique<std::atomic<bool>[]>(segments)) {
  forbid(data(), bytes);
}

Area::~Area() {
  allow(data(), size());
}

bool Area::occupy(void* data, std::size_t bytes, std::uint32_t first, std::uint32_t segments) {
  for (std::uint32_t i = 0; i < segments; ++i) {
    if (taken_[first + i].load(std::memory_order_acquire)) return false;
  }
  for (std::uint32_t i = 0; i < segments; ++i) taken_[first + i].store(true, std::memory_order_relaxed);
  users_.fetch_add(1, std::memory_order_relaxed);
  allow(data, bytes);
  return true;
}

void Area::release_segments(void* data, std::size_t bytes, std::uint32_t first, std::uint32_t segments) {
  forbid(data, bytes);
  for (std::uint32_t i = 0; i < segments; ++i) taken_[first + i].store(false, std::memory_order_release);
  end_use();
}

void Area::end_use() {
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

thread_local constinit RunMemory* RunMemory::current = nullptr;

RunMemory::Run::Run(RunMemory* memory) : before_(std::exchange(current, memory)) {}

RunMemory::Run::~Run() {
  current = before_;
}

void RunMemory::record() {
  forget();
  state_ = State::recording;
}

void RunMemory::forget() {
  for (Area* area : areas_) area->end_use();
  areas_.clear();
  places_.clear();
  taken_.clear();
  held_.clear();
  first_of_step_.clear();
  now_ = 0;
  next_ = end_ = 0;
  state_ = State::idle;
}

void RunMemory::note_taken(const void* data, std::size_t bytes) {
  if (state_ != State::recording || taken_.size() == most_recorded) return;
  held_[data] = taken_.size();
  taken_.push_back({bytes, now_++, never, 0});
}

void RunMemory::note_given_back(const void* data) {
  if (state_ != State::recording) return;
  const auto found = held_.find(data);
  if (found == held_.end()) return;
  taken_[found->second].end = now_++;
  held_.erase(found);
}

Place RunMemory::place_for(std::size_t bytes) {
  if (state_ != State::serving || next_ == end_) return {};
  const Place& place = places_[next_++];
  if (bytes > place.bytes || place.area == nullptr) return {};
  if (!place.area->occupy(place.data, bytes, place.first, place.segments)) return {};
  return place;
}

// Each block, the largest first, goes into the smallest gap that suffices between those that are held at the
// same time. Returns what they take together.
std::size_t RunMemory::assign_offsets(std::vector<std::uint32_t>& order) {
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t i) { return taken_[i].bytes; });
  std::vector<std::uint32_t> placed;  // by offset
  std::size_t whole = 0;
  for (const std::uint32_t i : order) {
    Taken& block = taken_[i];
    const std::size_t bytes = room(block.bytes);
    std::size_t best = std::numeric_limits<std::size_t>::max();
    std::size_t best_gap = best;
    std::size_t free_from = 0;
    for (const std::uint32_t j : placed) {
      const Taken& other = taken_[j];
      if (other.end <= block.begin || block.end <= other.begin) continue;
      if (other.offset >= free_from + bytes && other.offset - free_from < best_gap) {
        best = free_from;
        best_gap = other.offset - free_from;
      }
      free_from = std::max(free_from, other.offset + room(other.bytes));
    }
    block.offset = best_gap == std::numeric_limits<std::size_t>::max() ? free_from : best;
    const auto at =
        std::ranges::upper_bound(placed, block.offset, {}, [&](std::uint32_t j) { return taken_[j].offset; });
    placed.insert(at, i);
    whole = std::max(whole, block.offset + bytes);
  }
  return whole;
}

void RunMemory::assign_places() {
  if (state_ != State::recording) return;
  first_of_step_.push_back(taken_.size());
  places_.assign(taken_.size(), {});
  std::vector<std::uint32_t> order;  // of those that end within the run
  std::vector<std::uint32_t> lasting;
  for (std::uint32_t i = 0; i < taken_.size(); ++i) (taken_[i].end == never ? lasting : order).push_back(i);
  if (order.size() > most_placed) {
    std::ranges::nth_element(order, order.begin() + most_placed, std::greater(),
                             [&](std::uint32_t i) { return taken_[i].bytes; });
    order.resize(most_placed);
  }
  if (lasting.size() > most_placed) lasting.clear();
  const std::size_t whole = assign_offsets(order);
  std::vector<std::size_t> cuts;
  for (const std::uint32_t i : order) {
    cuts.push_back(taken_[i].offset);
    cuts.push_back(taken_[i].offset + room(taken_[i].bytes));
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const auto segment = [&](std::size_t offset) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(cuts, offset) - cuts.begin());
  };
  areas_.reserve(lasting.size() + 1);
  if (!order.empty()) areas_.push_back(new Area(whole, cuts.size()));
  for (const std::uint32_t i : order) {
    const Taken& block = taken_[i];
    const std::uint32_t first = segment(block.offset);
    places_[i] = {areas_.front()->data() + block.offset, block.bytes, areas_.front(), first,
                  segment(block.offset + room(block.bytes)) - first};
  }
  // What outlives the run, an output, lies by itself: who keeps it keeps nothing else.
  for (const std::uint32_t i : lasting) {
    areas_.push_back(new Area(room(taken_[i].bytes), 1));
    places_[i] = {areas_.back()->data(), taken_[i].bytes, areas_.back(), 0, 1};
  }
  taken_ = {};
  held_ = {};
  state_ = State::serving;
}

std::size_t RunMemory::size() const {
  std::size_t bytes = 0;
  for (const Area* area : areas_) bytes += area->size();
  return bytes;
}

}  // namespace grurun::memory
