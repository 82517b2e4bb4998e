// What the control groups of Linux leave to this process: in a container often less than the machine has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace grurun {

struct ContainerLimits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> cpus;  // processor time a second
};

/// The least of each limit of the groups that the process is in and of those around them, version 1 and 2;
/// nullopt where there is none, or none can be read. root: where /proc and /sys are.
ContainerLimits read_container_limits(const std::string& root = "");

/// Bytes that the machine has, or the container grants without the sixteenth that is left to all but tensors.
std::size_t usable_memory();

}  // namespace grurun
