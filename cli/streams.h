// The standard streams, for every command: what happens to them never ends the work that was asked for.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace grurun::cli {

/// To be called first: a write to a closed pipe or beyond the limit of a file's size becomes an error instead
/// of a signal, and descriptors 0 to 2 are open, so that no file that is opened later is taken for stdout.
void prepare_streams();

/// For what sends a report to stdout, a flag ("--json -") or a command that does nothing else ("check"):
/// throws Error(usage) when that was closed before the program began. Other output may be unwanted; a report
/// that is asked for is not.
void require_stdout(const char* what);

/// Writes to stdout, and never throws: after the first write that fails nothing more is written, and the
/// action goes on, to save what it was asked to save and to come to its exit code.
void print_text(std::string_view text);

/// Writes to stderr as far as that can be written.
void tell_text(std::string_view text);

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  tell_text(fmt::format(format, std::forward<Args>(args)...));
}

/// Writes out what stdout still holds. A reader who went away (grurun ... | head) is no error; throws
/// Error(usage) when a write failed otherwise, now or before.
void finish_stdout();

}  // namespace grurun::cli
