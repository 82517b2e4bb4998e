#include "cli/limit_flags.h"

#include <CLI/CLI.hpp>

#include "cli/flag_values.h"
#include "conformance/process_limits.h"
#include "tensor/error.h"
#include "tensor/limits.h"
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

void add_model_limit_flags(CLI::App& app, ModelLimitFlags& flags, bool runs, const std::string& group) {
  app.add_option("--max-model-size", flags.model_size,
                 "Bytes of a model's file and its external data together, 512M, 4G (64G)")
      ->type_name("SIZE")
      ->group(group);
  app.add_option("--max-depth", flags.depth, "Bodies and functions within each other, 1 to 64 (64)")
      ->type_name("N")
      ->group(group);
  app.add_option("--max-iterations", flags.iterations,
                 "Iterations of a run: of loops, time steps, trees, at most 100000000 (100000000)")
      ->type_name("N")
      ->group(group);
  if (runs)
    app.add_option("--max-output", flags.output, "Bytes of the outputs of a run together, 512M, 4G (16G)")
        ->type_name("SIZE")
        ->group(group);
}

namespace {

std::int64_t parse_up_to(const char* flag, const std::string& text, std::int64_t most) {
  if (text.empty()) return most;
  const std::uint64_t number = parse_whole(flag, text);
  if (number < 1 || number > static_cast<std::uint64_t>(most))
    fail_usage("{} takes a number from 1 to {}, not {}", flag, most, text);
  return static_cast<std::int64_t>(number);
}

}  // namespace

void apply(const ModelLimitFlags& flags, const std::string& max_time) {
  Limits chosen;
  if (!flags.model_size.empty()) chosen.model_size = parse_bytes("--max-model-size", flags.model_size);
  chosen.depth = parse_up_to("--max-depth", flags.depth, Limits::most_depth);
  chosen.iterations = parse_up_to("--max-iterations", flags.iterations, Limits::most_iterations);
  if (!flags.output.empty()) chosen.output = parse_bytes("--max-output", flags.output);
  if (!max_time.empty())
    if (const auto limit = parse_time_limit("--max-time", max_time)) chosen.seconds = limit->count();
  set_limits(chosen);
}

std::size_t most_memory(const std::string& text) {
  return text.empty() ? usable_memory() : parse_bytes("--max-memory", text);
}

void apply_memory_limit(const std::string& text) {
  const std::size_t bytes = most_memory(text);
  memory::set_limit(bytes);
  conformance::limit_memory(bytes);
}

void apply(const LimitFlags& flags) {
  apply(flags.model, flags.max_time);
  apply_memory_limit(flags.max_memory);
  memory::begin_counting_heap();
}

}  // namespace grurun::cli
