// --rtol and --atol, one of each, for every command that compares.
#pragma once

#include <optional>
#include <string>

#include "cli/app.h"
#include "trial/tolerance_choice.h"

namespace grurun::cli {

struct ToleranceFlags {
  std::optional<double> rtol;
  std::optional<double> atol;
};

void add_tolerance_flags(CLI::App& command, ToleranceFlags& flags);

/// --cast.
CLI::Option& add_cast_flag(CLI::App& command, bool& cast, const std::string& group = "Options");

/// Throws Error(usage) for what is no number from 0.
trial::ToleranceChoice checked(const ToleranceFlags& flags);

}  // namespace grurun::cli
