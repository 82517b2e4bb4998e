// A case's result as bytes, for the pipe from a worker to its parent: both are the same program.
#pragma once

#include <string>
#include <string_view>

#include "conformance/case.h"

namespace grurun::conformance {

std::string encode(const CaseResult& result);

/// Throws Error(internal) when the bytes are not what encode made.
CaseResult decode(std::string_view bytes);

}  // namespace grurun::conformance
