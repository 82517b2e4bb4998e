// Limits that the system holds this process to, behind those that the program counts by itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace grurun::conformance {

/// Memory beyond the program's own count is refused: what is neither a tensor's nor an object's, a library's
/// say. `bytes` is what tensors, strings and lists may take; half of it, 512 MiB and a stack for each CPU
/// more are left to blocks' alignment, threads and libraries. Where the process has a lower limit that stays.
/// No core file is written.
void limit_memory(std::size_t bytes);

/// Writes no file, and has few open.
void limit_files();

/// Processor time from now on, of all threads together; the system ends the process a second later.
void limit_processor_time(std::chrono::duration<double> seconds);

}  // namespace grurun::conformance
