// The border of the process: every exception becomes one line on stderr and an exit code, here and nowhere
// else.
#pragma once

#include "cli/commands.h"

namespace grurun::cli {

/// Runs action and writes out stdout. Error: its line, exit code of its kind. std::bad_alloc: a limit, 5. A
/// file-system error: usage, 2. Anything else: internal, 70. An action that finished has its own exit code
/// although the reader of stdout went away (grurun ... | head); after any other failure to write stdout it is
/// usage, 2.
int run_guarded(const Action& action);

}  // namespace grurun::cli
