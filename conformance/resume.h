// A run that goes on where another one stopped.
#pragma once

#include "conformance/suite.h"

namespace grurun::conformance {

/// Takes over what `former` knows of result.cases, told apart by their paths, so that run_suite runs the
/// others only. Returns how many were taken over. Verdicts are held against the expectations of `result`.
/// Throws Error(usage) where the two compare other sides.
std::size_t take_over(SuiteResult& result, SuiteResult former);

}  // namespace grurun::conformance
