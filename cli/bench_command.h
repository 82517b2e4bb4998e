// `grurun bench MODEL`: how long a run takes, and where the time goes.
#pragma once

#include "cli/commands.h"

namespace grurun::cli {

/// Adds the subcommand. Its action returns 0 and throws what loading, planning and running the model throw.
void add_bench(CLI::App& app, Action& action);

}  // namespace grurun::cli
