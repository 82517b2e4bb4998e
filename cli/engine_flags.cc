#include "cli/engine_flags.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/flag_values.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd.h"
#include "tensor/memory.h"

namespace grurun::cli {

void add_engine_flags(CLI::App& app, EngineFlags& flags, const std::string& group) {
  app.add_option("--threads", flags.threads, "Threads; 0, the default, is one for each CPU")
      ->check(CLI::Range(0, 1024).description(""))
      ->type_name("N")
      ->group(group);
  app.add_option("--isa", flags.isa,
                 "Instruction set of the kernels, one of those that grurun -v lists (the best)")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--max-memory", flags.max_memory,
                 "Bytes that tensors may take, 512M, 4G (the machine's memory)")
      ->type_name("SIZE")
      ->group(group);
}

std::size_t machine_memory() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void apply(const EngineFlags& flags) {
  kernels::set_threads(flags.threads);
  if (!flags.isa.empty()) kernels::use_simd_target(flags.isa);
  // Without a flag a tensor larger than the machine's memory is refused, rather than left to the system's
  // killer.
  memory::set_limit(flags.max_memory.empty() ? machine_memory()
                                             : parse_bytes("--max-memory", flags.max_memory));
}

}  // namespace grurun::cli
