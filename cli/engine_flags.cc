#include "cli/engine_flags.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "cli/flag_values.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "tensor/memory/container_limits.h"
#include "tensor/memory/memory.h"

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
  add_fusion_flag(app, flags.no_fusion, group);
}

void add_fusion_flag(CLI::App& app, bool& no_fusion, const std::string& group) {
  app.add_flag("--no-fusion", no_fusion,
               "Run every operator by itself, and see every value between; results are the same")
      ->group(group);
}

std::size_t usable_memory() {
  static const std::size_t bytes = [] {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const std::size_t machine = pages > 0 && page > 0
                                    ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                                    : std::numeric_limits<std::size_t>::max();
    const std::optional<std::uint64_t> granted = read_container_limits().memory_bytes;
    return granted ? std::min<std::size_t>(machine, *granted - *granted / 16) : machine;
  }();
  return bytes;
}

void apply(const EngineFlags& flags) {
  kernels::set_threads(flags.threads);
  if (!flags.isa.empty()) kernels::use_simd_target(flags.isa);
  // Without a flag a tensor larger than the memory that there is is refused, rather than left to the system's
  // killer.
  memory::set_limit(flags.max_memory.empty() ? usable_memory()
                                             : parse_bytes("--max-memory", flags.max_memory));
}

}  // namespace grurun::cli
