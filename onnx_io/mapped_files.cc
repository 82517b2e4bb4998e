#include "onnx_io/mapped_files.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

/// What the handler looks at: plain memory, never freed.
struct Watched {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> shrank{false};
  char name[256] = {};
};

constexpr std::size_t most_watched = 1024;
Watched watched[most_watched];
std::atomic<bool> any_shrank{false};
struct sigaction former {};
long page_size = 4096;

void hand_on(int number, siginfo_t* info, void* context) {
  if ((former.sa_flags & SA_SIGINFO) != 0 && former.sa_sigaction != nullptr)
    return former.sa_sigaction(number, info, context);
  if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) return former.sa_handler(number);
  // The access is repeated, and ends the process as it does without a handler.
  signal(SIGBUS, SIG_DFL);
}

/// Puts zeros where the file has nothing any more.
void replace_lost_pages(int number, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Watched& file : watched) {
    const std::uintptr_t begin = file.begin.load(std::memory_order_acquire), end = file.end.load();
    if (begin == 0 || at < begin || at >= end) continue;
    const std::uintptr_t page =
        at / static_cast<std::uintptr_t>(page_size) * static_cast<std::uintptr_t>(page_size);
    void* const zeros = mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) break;
    file.shrank.store(true);
    any_shrank.store(true);
    return;
  }
  hand_on(number, info, context);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_size = sysconf(_SC_PAGESIZE);
    struct sigaction action {};
    action.sa_sigaction = replace_lost_pages;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &former);
  });
}

/// nullptr where too many files are mapped.
Watched* watch(void* at, std::size_t size, const std::string& name) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (Watched& file : watched) {
    if (file.begin.load() != 0) continue;
    std::strncpy(file.name, name.c_str(), sizeof file.name - 1);
    file.shrank.store(false);
    file.end.store(reinterpret_cast<std::uintptr_t>(at) + size);
    file.begin.store(reinterpret_cast<std::uintptr_t>(at), std::memory_order_release);
    return &file;
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<const void> map_watched(int descriptor, std::size_t size, const std::string& name) {
  install_handler();
  void* const at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (at == MAP_FAILED) return nullptr;
  Watched* const place = watch(at, size, name);
  if (place == nullptr) {
    munmap(at, size);
    return nullptr;
  }
  return {at, [size, place](const void* mapped) {
            place->begin.store(0);
            munmap(const_cast<void*>(mapped), size);
          }};
}

void require_whole_files() {
  if (!any_shrank.exchange(false)) return;
  for (Watched& file : watched) {
    if (!file.shrank.exchange(false)) continue;
    fail_invalid("'{}' became shorter while it was read; run again when nothing writes to it", file.name);
  }
}

void forget_shrunk_files() {
  if (!any_shrank.exchange(false)) return;
  for (Watched& file : watched) file.shrank.store(false);
}

}  // namespace grurun::onnx_io
