// What reports call cases.
#pragma once

#include <string>
#include <vector>

#include "conformance/case.h"

namespace grurun::conformance {

/// For each case what must stand after its name to tell it from others of the same kind and name: " (PATH)",
/// or nothing where there are none.
std::vector<std::string> name_endings(const std::vector<Case>& cases);

}  // namespace grurun::conformance
