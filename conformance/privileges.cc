#include "conformance/privileges.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/error.h"

extern "C" char** environ;

namespace grurun::conformance {

namespace {

/// What reports, shards and the progress bar look at.
constexpr std::array known_variables = {
    "CI",
    "CI_NODE_INDEX",
    "CI_NODE_TOTAL",
    "BUILDKITE_PARALLEL_JOB",
    "BUILDKITE_PARALLEL_JOB_COUNT",
    "CLICOLOR_FORCE",
    "GITHUB_STEP_SUMMARY",
    "GRURUN_SHARD",
    "GRURUN_SHARDS",
    "JOB_COMPLETION_INDEX",
    "NO_COLOR",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_STEP",
    "TERM",
    "TMPDIR",
};

void overwrite_environment() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    std::memset(*entry, 0, std::strlen(*entry));
  clearenv();
}

}  // namespace

void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> held{};
  if (syscall(SYS_capget, &header, held.data()) != 0) return;
  constexpr unsigned of_files = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
  const unsigned kept = held[0].permitted & of_files;
  if (held[0].permitted == kept && held[1].permitted == 0) return;
  held = {__user_cap_data_struct{held[0].effective & kept, kept, 0}, __user_cap_data_struct{0, 0, 0}};
  if (syscall(SYS_capset, &header, held.data()) != 0)
    fail_internal("capabilities cannot be given up: {}", std::strerror(errno));
}

void make_limits_final() {
  for (int resource = 0; resource < static_cast<int>(RLIM_NLIMITS); ++resource) {
    rlimit now{};
    const auto number = static_cast<__rlimit_resource>(resource);
    if (getrlimit(number, &now) != 0 || now.rlim_max == now.rlim_cur) continue;
    now.rlim_max = now.rlim_cur;
    setrlimit(number, &now);
  }
}

void clear_environment() {
  std::vector<std::pair<const char*, std::string>> kept;
  for (const char* const name : known_variables)
    if (const char* const value = std::getenv(name)) kept.emplace_back(name, value);
  overwrite_environment();
  for (const auto& [name, value] : kept) setenv(name, value.c_str(), 1);
}

void keep_only(int descriptor) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) fail_internal("/dev/null cannot be opened: {}", std::strerror(errno));
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO})
    if (nothing != stream && dup3(nothing, stream, 0) < 0)
      fail_internal("a stream cannot be closed: {}", std::strerror(errno));
  const auto close_from = [](unsigned first, unsigned last) {
    if (first <= last && syscall(SYS_close_range, first, last, 0) != 0 && errno != ENOSYS)
      fail_internal("descriptors cannot be closed: {}", std::strerror(errno));
  };
  close_from(STDERR_FILENO + 1, static_cast<unsigned>(descriptor) - 1);
  close_from(static_cast<unsigned>(descriptor) + 1, UINT_MAX);
  overwrite_environment();
}

}  // namespace grurun::conformance
