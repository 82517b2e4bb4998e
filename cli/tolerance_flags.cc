#include "cli/tolerance_flags.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "tensor/error.h"

namespace grurun::cli {

namespace {

void require_measure(const char* flag, const std::optional<double>& value) {
  if (value && !(std::isfinite(*value) && *value >= 0))
    fail_usage("{} takes a number from 0, not {}", flag, *value);
}

}  // namespace

void add_tolerance_flags(CLI::App& command, ToleranceFlags& flags) {
  command.add_option("--rtol", flags.rtol, "Relative tolerance, over data.json and the default 1e-3");
  command.add_option("--atol", flags.atol, "Absolute tolerance, over data.json and the default 1e-7");
}

CLI::Option& add_cast_flag(CLI::App& command, bool& cast, const std::string& group) {
  return *command
              .add_flag("--cast", cast,
                        "Compare floats of unlike types: what is expected is converted to the type of what "
                        "is compared")
              ->group(group);
}

trial::ToleranceChoice checked(const ToleranceFlags& flags) {
  require_measure("--rtol", flags.rtol);
  require_measure("--atol", flags.atol);
  return {flags.rtol, flags.atol};
}

}  // namespace grurun::cli
