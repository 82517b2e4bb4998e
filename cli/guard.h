// The border of the process: every exception becomes one line on stderr and an exit code, here and nowhere
// else.
#pragma once

#include "cli/commands.h"

namespace grurun::cli {

/// Runs action and writes out stdout. Error: its line, exit code of its kind. std::bad_alloc: a limit, 5. A
/// file-system error: usage, 2. Anything else: internal, 70. A reader of stdout who went away (grurun ... |
/// head) is no error: the action's exit code if it finished, else 0, and nothing on stderr; any other failure
/// to write stdout is usage, 2.
int run_guarded(const Action& action);

/// To be called first: a write to a closed pipe becomes an error instead of a signal, and descriptors 0 to 2
/// are open, so that no file that is opened later is taken for stdout.
void prepare_streams();

}  // namespace grurun::cli
