// A program that is started, waited for and read from.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace grurun::conformance {

/// A path, or a name in $PATH, of a file that may be executed.
bool can_be_run(const std::string& program);

/// $GRURUN_PYTHON, or else python3.
std::string python_program();

/// Starts the program words[0] in a process group of its own, without standard input, and waits for it. Both
/// of its output streams go to `output_file`. max_memory: bytes, 0: no limit of ours. variables:
/// "NAME=VALUE", added to its environment. Returns its status as waitpid has it; nullopt where it was killed
/// at the deadline. What it started is killed at the end. Throws Error(internal) where no process can be
/// made.
std::optional<int> run_words(const std::vector<std::string>& words, const std::string& output_file,
                             std::size_t max_memory,
                             std::optional<std::chrono::steady_clock::time_point> deadline,
                             const std::vector<std::string>& variables = {});

/// The last line of a file that is not blank, or nothing: what a program that fails says of it.
std::string last_line(const std::string& file);

}  // namespace grurun::conformance
