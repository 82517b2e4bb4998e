// Gives up what a process was given and does not need: rights, limits that can be raised, secrets, files.
#pragma once

namespace grurun::conformance {

/// Capabilities but those to read and write files of others, which a model in a container may be. Without
/// them root can raise no hard limit and look into no process outside.
void drop_capabilities();

/// What limits are now is the most that they can be set to.
void make_limits_final();

/// Overwrites the environment, where a CI job has its secrets, but for the variables that grurun looks at.
void clear_environment();

/// A worker keeps the descriptor that it answers on, stderr, and nothing else that is open, and nothing of
/// the environment.
void keep_only(int descriptor);

}  // namespace grurun::conformance
