// `grurun conformance PATH...`: runs cases and compares them with their expected outputs.
#pragma once

#include <functional>

#include "cli/app.h"

namespace grurun::cli {

/// Adds the subcommand. When it is chosen its callback sets action, to be called inside main's error handler;
/// action returns 0 (all as expected) or 1 (an unexpected verdict or a stale expectation) and throws
/// Error(usage) for what the user gave, for a run without cases and, after the verdicts are printed, for a
/// report that could not be written, Error(internal) for faults of ours; nothing else leaves it.
void add_conformance(CLI::App& app, std::function<int()>& action);

}  // namespace grurun::cli
