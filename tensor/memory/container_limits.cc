#include "tensor/memory/container_limits.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace grurun {
namespace {

template <typename T>
void lower(std::optional<T>& limit, T found) {
  limit = limit ? std::min(*limit, found) : found;
}

/// Calls body(folder) for a group's folder and those around it, up to the mount. A container may see its own
/// group as the mount, and the path of its group as the host does: what is not there limits nothing.
template <typename Body>
void each_folder(const std::string& mount, std::string group, const Body& body) {
  for (;;) {
    body(mount + group);
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return;
    group.resize(slash);
  }
}

void read_memory(const std::string& path, ContainerLimits& limits) {
  std::uint64_t bytes = 0;
  // "max", and in version 1 more than any machine has, say that there is none.
  constexpr std::uint64_t none = std::uint64_t{1} << 60;
  if (std::ifstream(path) >> bytes && bytes > 0 && bytes < none) lower(limits.memory_bytes, bytes);
}

void set_cpus(double quota, double period, ContainerLimits& limits) {
  if (quota > 0 && period > 0) lower(limits.cpus, quota / period);
}

double number_in(const std::string& path) {
  double number = 0;
  return std::ifstream(path) >> number ? number : 0;
}

}  // namespace

ContainerLimits read_container_limits(const std::string& root) {
  ContainerLimits limits;
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/group" in version 2; "4:memory:/group" and "1:cpu,cpuacct:/group" in version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1) == "/" ? "" : line.substr(second + 1);
    if (controllers == ",,") {
      each_folder(mount, group, [&](const std::string& folder) {
        read_memory(folder + "/memory.max", limits);
        double quota = 0, period = 0;
        if (std::ifstream(folder + "/cpu.max") >> quota >> period) set_cpus(quota, period, limits);
      });
    } else if (controllers.find(",memory,") != std::string::npos) {
      each_folder(mount + "/memory", group,
                  [&](const std::string& folder) { read_memory(folder + "/memory.limit_in_bytes", limits); });
    } else if (controllers.find(",cpu,") != std::string::npos) {
      each_folder(mount + "/cpu", group, [&](const std::string& folder) {
        set_cpus(number_in(folder + "/cpu.cfs_quota_us"), number_in(folder + "/cpu.cfs_period_us"), limits);
      });
    }
  }
  return limits;
}

std::size_t usable_memory() {
  static const std::size_t bytes = [] {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const std::size_t machine = pages > 0 && page > 0
                                    ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                                    : std::numeric_limits<std::size_t>::max();
    const std::optional<std::uint64_t> granted = read_container_limits().memory_bytes;
    return granted ? std::min<std::size_t>(machine, *granted - *granted / 16) : machine;
  }();
  return bytes;
}

}  // namespace grurun
