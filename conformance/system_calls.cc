#include "conformance/system_calls.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tensor/error.h"
#include "tensor/sanitizers.h"

namespace grurun::conformance {

bool runs_under_valgrind() {
  static const bool is_so = [] {
    const char* const preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr && std::string_view(preloaded).find("vgpreload") != std::string_view::npos;
  }();
  return is_so;
}

bool can_filter_system_calls() {
  // The sanitizers start processes and trace them, to find what was not freed.
  if (GRURUN_ASAN || GRURUN_TSAN || runs_under_valgrind()) return false;
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

void filter_system_calls(SandboxRole role) {
  std::array<sock_filter, BPF_MAXINSNS> own;
  const std::span<const sock_filter> listed = call_filter(role);
  if (listed.size() > own.size()) fail_internal("the list of system calls is too long");
  std::ranges::copy(listed, own.begin());
  const auto process = static_cast<std::uint32_t>(getpid());
  for (sock_filter& one : std::span(own.data(), listed.size()))
    if (BPF_CLASS(one.code) == BPF_JMP && one.k == own_process_mark) one.k = process;
  const sock_fprog program{static_cast<unsigned short>(listed.size()), own.data()};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    fail_internal("seccomp refuses the filter: {}", std::strerror(errno));
}

}  // namespace grurun::conformance
