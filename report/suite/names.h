// What reports call cases.
#pragma once

#include <string>
#include <vector>

#include "conformance/case.h"

namespace grurun::report {

/// For each case what must stand after its name to tell it from others of the same kind and name: " (PATH)",
/// or nothing where there are none.
std::vector<std::string> name_endings(const std::vector<conformance::Case>& cases);

}  // namespace grurun::report
