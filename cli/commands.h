// Each subcommand in its own file: add_NAME declares its flags; its callback only sets action, which main
// runs inside the one error handler. action returns the exit code.
#pragma once

#include <functional>

#include "cli/app.h"

namespace grurun::cli {

using Action = std::function<int()>;

/// `grurun MODEL ...`, the command without a name: flags and action of the application itself.
void add_run(CLI::App& app, Action& action);

/// `grurun ops`: operator x version x type, from the schema registry and the kernel tables.
void add_ops(CLI::App& app, Action& action);

}  // namespace grurun::cli
