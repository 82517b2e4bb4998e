#include "conformance/process_limits.h"

#include <fmt/format.h>
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

std::size_t memory_of_process(std::size_t bytes) {
  // The sanitizers map terabytes for themselves.
  if (GRURUN_ASAN || GRURUN_TSAN || bytes == 0) return 0;
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  constexpr std::size_t of_a_thread = std::size_t{9} << 20;  // its stack
  const std::size_t more =
      (std::size_t{512} << 20) + of_a_thread * static_cast<std::size_t>(std::max(cpus, 1L));
  return bytes > std::numeric_limits<std::size_t>::max() / 2 ? 0 : bytes + bytes / 2 + more;
}

std::string over_memory_text(std::size_t bytes) {
  return fmt::format("killed: its process held more than {} MiB of memory, where --max-memory is {} MiB",
                     memory_of_process(bytes) >> 20, bytes >> 20);
}

void limit_memory(std::size_t bytes) {
  limit(RLIMIT_CORE, 0);
  if (const std::size_t most = memory_of_process(bytes); most != 0) limit(RLIMIT_DATA, most);
}

void limit_files() {
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 256);
}

namespace {

/// In whole seconds, rounded down; the limit counts so.
double processor_time() {
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  return static_cast<double>(used.ru_utime.tv_sec) + static_cast<double>(used.ru_stime.tv_sec);
}

}  // namespace

void limit_processor_time(std::chrono::duration<double> seconds) {
  const double whole = std::ceil(seconds.count()) + 1 + processor_time();
  if (whole < 1e9) limit(RLIMIT_CPU, static_cast<rlim_t>(whole));
}

bool has_processor_time(std::chrono::duration<double> seconds) {
  rlimit now{};
  if (getrlimit(RLIMIT_CPU, &now) != 0 || now.rlim_cur == RLIM_INFINITY) return true;
  return processor_time() + seconds.count() + 1 <= static_cast<double>(now.rlim_cur);
}

}  // namespace grurun::conformance
