// Limits that the system holds this process to, behind those that the program counts by itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace grurun::conformance {

/// What a process may take whose tensors, strings and lists take `bytes`: half of that, 512 MiB and a stack
/// for each CPU more, for blocks' alignment, threads and libraries. 0: no limit.
std::size_t memory_of_process(std::size_t bytes);

/// "killed: its process held more than 1310 MiB of memory, where --max-memory is 512 MiB", of `bytes`.
std::string over_memory_text(std::size_t bytes);

/// Memory beyond the program's own count is refused: what is neither a tensor's nor an object's, a library's
/// say. Holds the process to memory_of_process(bytes). Where it has a lower limit that stays. No core file is
/// written.
void limit_memory(std::size_t bytes);

/// Writes no file, and has few open.
void limit_files();

/// Processor time that the process may take, of all threads together, when it has taken this much more; the
/// system ends it a second later.
void limit_processor_time(std::chrono::duration<double> seconds);

/// Whether it is allowed to take this much more.
bool has_processor_time(std::chrono::duration<double> seconds);

}  // namespace grurun::conformance
