// The flags that say how the engine runs, for every command that runs a model.
#pragma once

#include <string>

#include "cli/app.h"
#include "cli/limit_flags.h"

namespace grurun::cli {

struct EngineFlags {
  int threads = 0;
  std::string isa;
  std::string max_memory;
  ModelLimitFlags model{};
  bool no_fusion = false;
  std::string sandbox = "auto";
  bool strict = false;
};

/// --strict. What it says is for apply, or for opset::refuse_forms.
void add_strict_flag(CLI::App& app, bool& strict, const std::string& group = "");

/// --threads, --isa, --sandbox, --strict and limits of memory and models, in the help's group of that name.
void add_engine_flags(CLI::App& app, EngineFlags& flags, const std::string& group);

/// --no-fusion, for commands that do not go node by node.
void add_fusion_flag(CLI::App& app, bool& no_fusion, const std::string& group);

/// Sets threads, instruction set, limits and strictness of the process. max_time: as of ModelLimitFlags.
/// Throws Error(usage) for a size that is none and an instruction set that this processor and build do not
/// have.
void apply(const EngineFlags& flags, const std::string& max_time = {});

}  // namespace grurun::cli
