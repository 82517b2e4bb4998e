// The report for programs. docs/conformance.md documents every key; they are stable.
#pragma once

#include <string>

#include "conformance/suite.h"

namespace grurun::report {

std::string json_report(const conformance::SuiteResult& result);

}  // namespace grurun::report
