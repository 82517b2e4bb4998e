#include "cli/limit_flags.h"

#include <CLI/CLI.hpp>

#include "cli/flag_values.h"
#include "conformance/process_limits.h"
#include "tensor/memory/container_limits.h"
#include "tensor/memory/heap.h"
#include "tensor/memory/memory.h"

namespace grurun::cli {

void add_limit_flags(CLI::App& app, LimitFlags& flags, const std::string& what) {
  app.add_option("--max-time", flags.max_time, "Seconds that " + what + " may take; 0: no limit")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--max-memory", flags.max_memory,
                 "Bytes that the program may take, 512M, 4G (the memory of the machine, or of the container)")
      ->type_name("SIZE");
}

void apply_memory_limit(const std::string& text) {
  const std::size_t bytes = text.empty() ? usable_memory() : parse_bytes("--max-memory", text);
  memory::set_limit(bytes);
  conformance::limit_memory(bytes);
}

void apply(const LimitFlags& flags) {
  parse_time_limit("--max-time", flags.max_time);
  apply_memory_limit(flags.max_memory);
  memory::begin_counting_heap();
}

}  // namespace grurun::cli
