#include <sys/mman.h>
#include <unistd.h>

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

/// A mapping of one period, filled with `unit`; what it lies in can be mapped again.
class Period {
 public:
  explicit Period(std::span<const std::byte> unit) : file_(::memfd_create("grurun", MFD_CLOEXEC)) {
    if (file_ < 0 || ::ftruncate(file_, period) != 0) return;
    void* const at = ::mmap(nullptr, period, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) return;
    auto* const bytes = static_cast<std::byte*>(at);
    for (std::size_t i = 0; i < period; i += unit.size()) std::memcpy(bytes + i, unit.data(), unit.size());
    ::munmap(at, period);
    filled_ = true;
  }
  ~Period() {
    if (file_ >= 0) ::close(file_);
  }
  Period(const Period&) = delete;
  Period& operator=(const Period&) = delete;

  /// Maps it to each period of the range from `to` on.
  bool map(std::byte* to, std::size_t times) const {
    for (std::size_t i = 0; filled_ && i < times; ++i) {
      void* const at =
          ::mmap(to + i * period, period, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file_, 0);
      if (at == MAP_FAILED) return false;
    }
    return filled_;
  }

 private:
  int file_;
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
