#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "tensor/memory/memory.h"
#include "tensor/memory/scratch.h"

namespace grurun::memory {

#ifdef __linux__
namespace {

constexpr std::size_t period = std::size_t{1} << 20;
// Linux allows a process 65530 mappings, which malloc and mapped files need, too.
constexpr std::size_t most_mappings = 4096;
std::atomic<std::size_t> mappings{0};

/// A mapping of one period, filled with `unit`; its pages can be mapped again. No file is behind it, which a
/// limit of files would count.
class Period {
 public:
  explicit Period(std::span<const std::byte> unit)
      : at_(::mmap(nullptr, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (at_ == MAP_FAILED) return;
    auto* const bytes = static_cast<std::byte*>(at_);
    for (std::size_t i = 0; i < period; i += unit.size()) std::memcpy(bytes + i, unit.data(), unit.size());
    filled_ = ::mprotect(at_, period, PROT_READ) == 0;
  }
  ~Period() {
    if (at_ != MAP_FAILED) ::munmap(at_, period);
  }
  Period(const Period&) = delete;
  Period& operator=(const Period&) = delete;

  /// Maps it to each period of the range from `to` on.
  bool map(std::byte* to, std::size_t times) const {
    for (std::size_t i = 0; filled_ && i < times; ++i) {
      // Of a shared mapping, an old size of 0 makes one more of the same pages.
      if (::mremap(at_, 0, period, MREMAP_MAYMOVE | MREMAP_FIXED, to + i * period) == MAP_FAILED)
        return false;
    }
    // One call in the place of a fault for each few pages; older kernels do without.
    if (filled_) ::madvise(to, times * period, populate_to_read);
    return filled_;
  }

 private:
  static constexpr int populate_to_read = 22;  // MADV_POPULATE_READ, of Linux 5.14

  void* at_;
  bool filled_ = false;
};

}  // namespace

std::shared_ptr<const void> repeated(std::span<const std::byte> unit, std::size_t bytes) {
  const std::size_t times = bytes / period + (bytes % period != 0);
  if (times == 0) return nullptr;
  if (mappings.fetch_add(times) + times > most_mappings) {
    mappings.fetch_sub(times);
    return nullptr;
  }
  const auto give_back = [times](const void* at) {
    if (at != MAP_FAILED) ::munmap(const_cast<void*>(at), times * period);
    mappings.fetch_sub(times);
  };
  // The range is ours before the periods take the place of what reserves it.
  void* const range =
      ::mmap(nullptr, times * period, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  std::shared_ptr<const void> owner(range, give_back, ScratchAllocator<std::byte>());
  if (range == MAP_FAILED || !Period(unit).map(static_cast<std::byte*>(range), times)) return nullptr;
  return owner;
}
#else
std::shared_ptr<const void> repeated(std::span<const std::byte>, std::size_t) {
  return nullptr;
}
#endif

}  // namespace grurun::memory
