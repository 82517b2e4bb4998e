// What `grurun conformance` reports, for people, programs and CI systems.
#pragma once

#include <string>

#include "conformance/suite.h"

namespace grurun::report {

/// One line for each case that did not pass (and each that should not have; the path is there where cases
/// share kind and name), for each warning's rule and operator, for what was no case and for stale
/// expectations; a table by kind; a table of the operators in cases that did not pass; a last line with all
/// counts.
std::string console_report(const conformance::SuiteResult& result);

/// docs/conformance.md documents every key; they are stable.
std::string json_report(const conformance::SuiteResult& result);

/// JUnit XML as Jenkins and GitLab read it, one test suite for each kind. failure: differs, and a listed case
/// that passed. error: unsupported, invalid, crashed, timed-out. skipped: not as it should be but expected to
/// be so (known-wrong, listed in the expectations), and not run. Stale expectations are failures of a suite
/// of their own. Counts agree with the elements.
std::string junit_report(const conformance::SuiteResult& result);

/// For a pull request or a step's summary: counts by kind, and the cases that are not as expected, fifty at
/// most.
std::string markdown_report(const conformance::SuiteResult& result);

/// Annotations of GitHub Actions: an error for each case that is not as expected and each stale line, then
/// warnings.
std::string suite_github(const conformance::SuiteResult& result);

/// One page that needs nothing but a browser (report/suite/html), with the JSON report in it.
std::string html_report(const conformance::SuiteResult& result);

}  // namespace grurun::report
