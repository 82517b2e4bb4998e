// The limits of commands that read models and do not run them.
#pragma once

#include <cstddef>
#include <string>

#include "cli/app.h"

namespace grurun::cli {

/// What holds every model, beside memory and time; texts as they were given.
struct ModelLimitFlags {
  std::string model_size, depth, iterations, output;
};

struct LimitFlags {
  std::string max_memory;
  std::string max_time = "60";
  ModelLimitFlags model{};
};

/// --max-model-size, --max-depth and --max-iterations; and --max-output for commands that run models.
void add_model_limit_flags(CLI::App& app, ModelLimitFlags& flags, bool runs,
                           const std::string& group = "Options");

/// Holds this process, and those that it forks, to them. max_time: a text of --max-time, for what errors say.
/// Throws Error(usage) for what is no number, or beyond what is safe.
void apply(const ModelLimitFlags& flags, const std::string& max_time);

/// --max-time and --max-memory, with defaults.
void add_limit_flags(CLI::App& app, LimitFlags& flags, const std::string& what);

/// Bytes of a text of --max-memory; the machine's share where it is empty.
std::size_t most_memory(const std::string& text);

/// Holds the process to a text of --max-memory, or to the machine's share where it is empty: what tensors
/// take, and what all else does.
void apply_memory_limit(const std::string& text);

void apply(const LimitFlags& flags);

}  // namespace grurun::cli
