#include "cli/engine_flags.h"

#include <CLI/CLI.hpp>

#include "cli/sandbox_flags.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "opset/findings/form_watch.h"

namespace grurun::cli {

void add_engine_flags(CLI::App& app, EngineFlags& flags, const std::string& group) {
  app.add_option("--threads", flags.threads, "Threads; 0, the default, is one for each CPU that may be used")
      ->check(CLI::Range(0, 1024).description(""))
      ->type_name("N")
      ->group(group);
  app.add_option("--isa", flags.isa,
                 "Instruction set of the kernels, one of those that grurun -v lists (the best)")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--max-memory", flags.max_memory,
                 "Bytes that tensors may take, 512M, 4G (the memory of the machine, or of the container)")
      ->type_name("SIZE")
      ->group(group);
  add_model_limit_flags(app, flags.model, true, group);
  add_sandbox_flag(app, flags.sandbox, group);
  add_strict_flag(app, flags.strict, group);
}

void add_strict_flag(CLI::App& app, bool& strict, const std::string& group) {
  CLI::Option* const flag = app.add_flag(
      "--strict", strict,
      "Refuse the forms that the standard forbids and that are taken with a warning (docs/rules.md)");
  if (!group.empty()) flag->group(group);
}

void add_fusion_flag(CLI::App& app, bool& no_fusion, const std::string& group) {
  app.add_flag("--no-fusion", no_fusion,
               "Run every operator by itself, and see every value between; results are the same")
      ->group(group);
}

void apply(const EngineFlags& flags, const std::string& max_time) {
  opset::refuse_forms(flags.strict);
  kernels::set_threads(flags.threads);
  if (!flags.isa.empty()) kernels::use_simd_target(flags.isa);
  // Without a flag a tensor larger than the memory that there is is refused, rather than left to the system's
  // killer.
  apply_memory_limit(flags.max_memory);
  apply(flags.model, max_time);
}

}  // namespace grurun::cli
