#include "conformance/process_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/sanitizers.h"

namespace grurun::conformance {

namespace {

/// The soft limit alone: it can be set again, higher up to what the process began with.
template <typename Resource>
void limit(Resource resource, rlim_t value) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return;
  now.rlim_cur = std::min(value, now.rlim_max);
  setrlimit(resource, &now);
}

}  // namespace

void limit_memory(std::size_t bytes) {
  limit(RLIMIT_CORE, 0);
  // The sanitizers map terabytes for themselves.
  if (GRURUN_ASAN || GRURUN_TSAN || bytes == 0) return;
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  constexpr rlim_t of_a_thread = rlim_t{9} << 20;  // its stack
  const rlim_t more = (rlim_t{512} << 20) + of_a_thread * static_cast<rlim_t>(std::max(cpus, 1L));
  if (bytes > std::numeric_limits<rlim_t>::max() / 2) return;
  limit(RLIMIT_DATA, bytes + bytes / 2 + more);
}

void limit_files() {
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 256);
}

void limit_processor_time(std::chrono::duration<double> seconds) {
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) != 0) return;
  const double whole = std::ceil(seconds.count()) + 1 + static_cast<double>(used.ru_utime.tv_sec) +
                       static_cast<double>(used.ru_stime.tv_sec);
  if (whole < 1e9) limit(RLIMIT_CPU, static_cast<rlim_t>(whole));
}

}  // namespace grurun::conformance
