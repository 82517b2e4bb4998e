// The report for CI systems: JUnit XML as Jenkins and GitLab read it, one test suite for each kind.
#pragma once

#include <string>

#include "conformance/suite.h"

namespace grurun::report {

/// failure: differs, and a listed case that passed. error: unsupported, invalid, crashed, timed-out. skipped:
/// not as it should be but expected to be so (known-wrong, listed in the expectations), and not run. Stale
/// expectations are failures of a suite of their own. Counts agree with the elements.
std::string junit_report(const conformance::SuiteResult& result);

}  // namespace grurun::report
