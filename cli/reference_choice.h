// What --against X names, for every command that has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/engine_flags.h"
#include "cli/sandbox_flags.h"

namespace grurun::cli {

enum class ReferenceKind : std::uint8_t { none, values, model, precise, runtime };

struct ReferenceChoice {
  ReferenceKind kind = ReferenceKind::none;
  std::string path;     // of values or a model
  std::string command;  // of a runtime
};

/// Values by name (.npz, .json, a folder), a runtime of the Python package, "precise", or else a model; none
/// of an empty text.
ReferenceChoice choose_reference(const std::string& against);

/// What the sandbox must let a command read of it.
void add_reference(const ReferenceChoice& reference, SandboxFiles& files);

/// No sandbox: a runtime is a program that is started. Throws Error(usage) where it is strict. flag: what
/// named the runtime.
void leave_sandbox(SandboxChoice& sandbox, const std::string& flag);

/// Values that a runtime returns at once: a part of what tensors may take here, where that was said.
std::size_t bytes_at_once(const EngineFlags& flags);

/// What --help says of X.
inline constexpr const char* against_text =
    "Values by name (.npz, .json, or a folder of .pb and .npy), another model, precise: this one in double, "
    "or "
    "onnxruntime, openvino or reference, through the Python package";

}  // namespace grurun::cli
