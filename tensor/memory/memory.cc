#include "tensor/memory/memory.h"

#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "tensor/error.h"
#include "tensor/memory/handles.h"
#include "tensor/memory/heap.h"
#include "tensor/memory/run_memory.h"
#include "tensor/sanitizers.h"

namespace grurun::memory {

namespace {

constexpr std::size_t alignment = 64;
std::atomic<std::size_t> held{0};
std::atomic<std::size_t> most{0};
std::atomic<std::size_t> limit{0};

std::atomic<std::ptrdiff_t> heap{0};  // since it is counted; negative when earlier blocks went

std::size_t heap_beyond_free() {
  return static_cast<std::size_t>(
      std::max<std::ptrdiff_t>(heap.load(std::memory_order_relaxed) - free_heap, 0));
}

void count(std::size_t bytes) {
  const std::size_t cap = limit.load(std::memory_order_relaxed);
  const std::size_t before = held.fetch_add(bytes, std::memory_order_relaxed);
  if (cap != 0) {
    const std::size_t used = before + heap_beyond_free();
    if (used > cap || bytes > cap - used) {
      held.fetch_sub(bytes, std::memory_order_relaxed);
      fail(ErrorKind::limit,
           "tensor memory: {} bytes more than the {} in use would pass the limit of {} bytes", bytes, used,
           cap);
    }
  }
  std::size_t peak_before = most.load(std::memory_order_relaxed);
  while (before + bytes > peak_before &&
         !most.compare_exchange_weak(peak_before, before + bytes, std::memory_order_relaxed)) {
  }
}

// Large blocks lie in large pages where the system has them: reading weights goes through many pages. Very
// large ones do not: the system would spend longer on finding such pages than they save.
constexpr std::size_t large_page = std::size_t{2} << 20;
constexpr std::size_t most_large_pages = std::size_t{64} << 20;

[[maybe_unused]] void advise_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  if (bytes >= large_page && bytes <= most_large_pages)
    ::madvise(data, bytes / large_page * large_page, MADV_HUGEPAGE);  // advice: may fail
#endif
}

// Aligned memory from malloc. glibc's aligned_alloc asks for more than it gives, so that what was freed does
// not serve the same request again: the heap would grow with every large block. The sanitizers, which see the
// end of a block only where malloc's is, are given the slower one.
#if GRURUN_ASAN || GRURUN_TSAN
void* allocate(std::size_t bytes) {
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}
void release(void* data) {
  std::free(data);
}
#else
// Blocks so small that what lies around them counts as well: there may be millions.
constexpr std::size_t small_whole = 320;

std::ptrdiff_t uncounted_size([[maybe_unused]] void* whole) {
#ifdef __GLIBC__
  const std::size_t size = ::malloc_usable_size(whole);
  return static_cast<std::ptrdiff_t>(size <= small_whole ? size : alignment);
#else
  return 0;
#endif
}

void* allocate(std::size_t bytes) {
  const std::size_t unit = bytes >= large_page ? large_page : alignment;
  void* const whole = std::malloc(bytes + unit);
  if (whole == nullptr) return nullptr;
  if (counts_heap() && !note_heap(uncounted_size(whole))) {
    std::free(whole);
    return nullptr;
  }
  // malloc's own alignment leaves room for the pointer.
  static_assert(alignof(std::max_align_t) >= sizeof(void*));
  auto* const data = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(whole) / unit + 1) * unit);
  data[-1] = whole;
  advise_large_pages(data, bytes);
  return data;
}
void release(void* data) {
  void* const whole = static_cast<void**>(data)[-1];
  if (counts_heap()) note_heap(-uncounted_size(whole));
  std::free(whole);
}
#endif

// Blocks that were given back, for the next that ask: runs of a model ask for the same ones again and again.
// The sanitizers are to see every block by itself.
#if GRURUN_ASAN || GRURUN_TSAN
constexpr std::size_t kept_classes = 0;
#else
constexpr std::size_t kept_classes = 17;  // of 64 bytes to 4 MiB
#endif
constexpr std::size_t most_kept_bytes = std::size_t{16} << 20;  // by a thread

// How many of a class: many small ones, few large ones.
constexpr std::size_t most_kept(std::size_t i) {
  return std::max<std::size_t>(8, (std::size_t{64} << 10) >> i);
}

struct KeptBlock {
  KeptBlock* next;
};
struct KeptBlocks {
  std::array<KeptBlock*, kept_classes> first;
  std::array<std::uint32_t, kept_classes> counts;
  std::size_t bytes;
  bool closed;  // the thread ends
};
thread_local constinit KeptBlocks kept{};

// Frees what is kept when the thread ends. Apart from it, since what needs no construction is cheaper to
// reach.
struct KeptBlocksEnd {
  bool begun = false;
  ~KeptBlocksEnd() {
    kept.closed = true;
    release_kept();
  }
};
thread_local KeptBlocksEnd kept_end;

// The class of blocks of 64 << class bytes that holds so many; kept_classes or more for large ones.
std::size_t class_of(std::size_t bytes) {
  return static_cast<std::size_t>(std::bit_width((std::max<std::size_t>(bytes, 1) - 1) / alignment));
}

// Takes counted memory; of which kind `take_bytes` decides.
template <typename Take>
void* take_counted(std::size_t bytes, Take take_bytes) {
  if (bytes > PTRDIFF_MAX - large_page)
    fail(ErrorKind::limit, "a tensor of {} bytes cannot be held in memory", bytes);
  count(bytes);
  void* const data = take_bytes(bytes);
  if (data == nullptr) {
    held.fetch_sub(bytes, std::memory_order_relaxed);
    fail(ErrorKind::limit, "out of memory for a tensor of {} bytes", bytes);
  }
  return data;
}

[[gnu::always_inline]] inline void* take_block(std::size_t bytes) {
  const std::size_t i = class_of(bytes);
  if (i >= kept_classes) return allocate(bytes);
  KeptBlock* const block = kept.first[i];
  if (block == nullptr) return allocate(alignment << i);
  kept.first[i] = block->next;
  --kept.counts[i];
  kept.bytes -= alignment << i;
  return block;
}

[[gnu::always_inline]] inline void give_back_block(void* data, std::size_t bytes) {
  const std::size_t i = class_of(bytes);
  if (i >= kept_classes || kept.counts[i] >= most_kept(i) || kept.closed) return release(data);
  if (kept.bytes + (alignment << i) > most_kept_bytes) return release(data);
  kept_end.begun = true;
  kept.bytes += alignment << i;
  ++kept.counts[i];
  kept.first[i] = ::new (data) KeptBlock{kept.first[i]};
}

// Lists from this size on count as heap: what a Loop collects may grow without bound.
constexpr std::size_t large_list = std::size_t{64} << 10;

bool is_counted_list(std::size_t bytes) {
  return bytes >= large_list && counts_heap();
}

}  // namespace

void* take(std::size_t bytes) {
  if (!is_counted_list(bytes)) return take_block(bytes);
  if (!note_heap(static_cast<std::ptrdiff_t>(bytes))) return nullptr;
  void* const data = take_block(bytes);
  if (data == nullptr) note_heap(-static_cast<std::ptrdiff_t>(bytes));
  return data;
}

void give_back(void* data, std::size_t bytes) {
  if (is_counted_list(bytes)) note_heap(-static_cast<std::ptrdiff_t>(bytes));
  give_back_block(data, bytes);
}

void release_kept([[maybe_unused]] bool to_system) {
  for (std::size_t i = 0; i < kept_classes; ++i) {
    while (kept.first[i] != nullptr) release(std::exchange(kept.first[i], kept.first[i]->next));
    kept.counts[i] = 0;
  }
  kept.bytes = 0;
#ifdef __GLIBC__
  if (to_system) ::malloc_trim(0);
#endif
}

void begin_counting_heap() {
  detail::heap_is_counted.store(true, std::memory_order_relaxed);
}

bool note_heap(std::ptrdiff_t bytes) noexcept {
  constexpr std::ptrdiff_t many = std::ptrdiff_t{64} << 10;
  thread_local constinit std::ptrdiff_t untold = 0;
  untold += bytes;
  if (untold > -many && untold < many) return true;
  const std::size_t cap = limit.load(std::memory_order_relaxed);
  const std::ptrdiff_t told = std::exchange(untold, 0);
  heap.fetch_add(told, std::memory_order_relaxed);
  if (told < 0 || cap == 0 || held.load(std::memory_order_relaxed) + heap_beyond_free() <= cap) return true;
  heap.fetch_sub(told, std::memory_order_relaxed);
  untold = told - bytes;
  return false;
}

std::size_t in_use() {
  return held.load(std::memory_order_relaxed);
}
std::size_t peak() {
  return most.load(std::memory_order_relaxed);
}
void set_limit(std::size_t bytes) {
  limit.store(bytes, std::memory_order_relaxed);
}

namespace {

// A Block, the counts of its shared_ptr and what malloc keeps beside both.
constexpr std::ptrdiff_t handle_bytes = 72;
std::atomic<bool> handles_are_counted{false};

bool counts_handles() {
  return handles_are_counted.load(std::memory_order_relaxed);
}

}  // namespace

void begin_counting_handles() {
  handles_are_counted.store(true, std::memory_order_relaxed);
}

Block::Block(std::size_t bytes) : bytes_(bytes) {
  RunMemory* const run = RunMemory::current;
  if (run != nullptr) {
    const Place place = run->place_for(bytes);
    if (place.data != nullptr) {
      data_ = place.data;
      area_ = place.area;
      first_ = place.first;
      segments_ = place.segments;
      return;
    }
  }
  data_ = take_counted(bytes, take_block);
  if (counts_handles() && !note_heap(handle_bytes)) {
    give_back_block(data_, bytes_);
    held.fetch_sub(bytes_, std::memory_order_relaxed);
    fail(ErrorKind::limit, "out of memory for a tensor of {} bytes", bytes);
  }
  if (run != nullptr) run->note_taken(data_, bytes);
}

Block::~Block() {
  if (area_ != nullptr) {
    area_->release_segments(data_, bytes_, first_, segments_);
    return;
  }
  if (RunMemory::current != nullptr) RunMemory::current->note_given_back(data_);
  give_back_block(data_, bytes_);
  if (counts_handles()) note_heap(-handle_bytes);
  held.fetch_sub(bytes_, std::memory_order_relaxed);
}

Reserve::Reserve(std::size_t bytes)
    : data_(static_cast<std::byte*>(take_counted(bytes, allocate))), bytes_(bytes) {}

Reserve::~Reserve() {
  release(data_);
  held.fetch_sub(bytes_, std::memory_order_relaxed);
}

// calloc does not write to pages that are new.
Zeros::Zeros(std::size_t bytes)
    : data_(static_cast<std::byte*>(take_counted(
          bytes, [](std::size_t count) { return std::calloc(std::max<std::size_t>(count, 1), 1); }))),
      bytes_(bytes) {}

Zeros::~Zeros() {
  std::free(data_);
  held.fetch_sub(bytes_, std::memory_order_relaxed);
}

}  // namespace grurun::memory
