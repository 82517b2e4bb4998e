// The limits of commands that read models and do not run them.
#pragma once

#include <string>

#include "cli/app.h"

namespace grurun::cli {

struct LimitFlags {
  std::string max_memory;
  std::string max_time = "60";
};

/// --max-time and --max-memory, with defaults.
void add_limit_flags(CLI::App& app, LimitFlags& flags, const std::string& what);

/// Holds the process to a text of --max-memory, or to the machine's share where it is empty: what tensors
/// take, and what all else does.
void apply_memory_limit(const std::string& text);

void apply(const LimitFlags& flags);

}  // namespace grurun::cli
