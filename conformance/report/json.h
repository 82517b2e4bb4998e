// The report for programs. docs/conformance.md documents every key; they are stable.
#pragma once

#include <string>

#include "conformance/suite.h"

namespace grurun::conformance {

std::string json_report(const SuiteResult& result);

}  // namespace grurun::conformance
