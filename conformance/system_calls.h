// The system calls that a sandboxed process may make.
#pragma once

#include "conformance/call_filter.h"

namespace grurun::conformance {

/// valgrind makes calls of its own in the process that it runs, and does not know those of Landlock.
bool runs_under_valgrind();

/// False where the kernel, or this build with a sanitizer or under valgrind, cannot filter system calls.
bool can_filter_system_calls();

/// From now on calls beside those that the role needs, the engine's, the readers' and the C library's, fail
/// with EPERM. The process has given up new privileges. Takes no memory. Throws Error(internal) when the
/// kernel refuses it.
void filter_system_calls(SandboxRole role);

}  // namespace grurun::conformance
