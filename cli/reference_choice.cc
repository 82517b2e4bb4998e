#include "cli/reference_choice.h"

#include <filesystem>

#include "cli/flag_values.h"
#include "conformance/runtime_values.h"
#include "tensor/error.h"

namespace grurun::cli {

ReferenceChoice choose_reference(const std::string& against) {
  if (against.empty()) return {};
  if (against == "precise") return {ReferenceKind::precise, "", ""};
  if (auto command = conformance::command_of_runtime(against))
    return {ReferenceKind::runtime, "", std::move(*command)};
  std::error_code ignored;
  const bool holds_values = against.ends_with(".npz") || against.ends_with(".json") ||
                            std::filesystem::is_directory(against, ignored);
  return {holds_values ? ReferenceKind::values : ReferenceKind::model, against, ""};
}

void add_reference(const ReferenceChoice& reference, SandboxFiles& files) {
  if (reference.kind == ReferenceKind::values) files.values.push_back(reference.path);
  if (reference.kind == ReferenceKind::model) files.models.push_back(reference.path);
}

void leave_sandbox(SandboxChoice& sandbox, const std::string& flag) {
  if (sandbox_mode(sandbox.mode) == conformance::SandboxMode::strict)
    fail_usage("--sandbox strict: {} starts a program; use auto", flag);
  sandbox.mode = "off";
}

std::size_t bytes_at_once(const EngineFlags& flags) {
  constexpr std::size_t otherwise = std::size_t{256} << 20, part = 4;
  return flags.max_memory.empty() ? otherwise : parse_bytes("--max-memory", flags.max_memory) / part;
}

}  // namespace grurun::cli
