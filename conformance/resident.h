// What a process holds of the machine's memory, as the system tells it.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace grurun::conformance {

/// Whether more than these bytes are resident that are no file's: the process's own, and those that it may
/// share with others, which RLIMIT_DATA does not count. False where the system does not tell.
bool holds_more(pid_t process, std::size_t bytes);

/// Starts a process that looks for this one, which is about to lose sight of /proc in a sandbox. It ends with
/// this one. Without it, where none can be started, holds_more knows nothing in a sandbox.
void start_memory_watch();

}  // namespace grurun::conformance
