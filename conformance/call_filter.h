// Which system calls a sandboxed process may make, as a program for the kernel, made when grurun is built.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>

namespace grurun::conformance {

/// Stands in the program for the number of the process that it is for: higher than any.
inline constexpr std::uint32_t own_process_mark = 0x5afe0001;

/// All calls that it does not list fail with EPERM. conformance/generate/ has the list.
std::span<const sock_filter> call_filter();

}  // namespace grurun::conformance
