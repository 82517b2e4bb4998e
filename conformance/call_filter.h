// The list of system calls that a sandboxed process may make, as a program for the kernel; written when
// grurun is built.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>

namespace grurun::conformance {

/// Stands in the program for the number of the process that it is for: higher than any.
inline constexpr std::uint32_t own_process_mark = 0x5afe0001;

/// What a sandboxed process is there for. Each may do less than the next.
enum class SandboxRole : std::uint8_t {
  worker,   // reads models, computes and answers; writes no file
  command,  // the same, and writes what flags name
  leader,   // reads what lies around models, and leads workers
};

/// All calls that it does not list fail with EPERM. conformance/generate/ has the lists; a worker's is the
/// strictest.
std::span<const sock_filter> call_filter(SandboxRole role = SandboxRole::worker);

}  // namespace grurun::conformance
