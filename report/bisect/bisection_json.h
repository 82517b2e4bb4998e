// A bisection as a part of a JSON report.
#pragma once

#include <nlohmann/json.hpp>

#include "trial/bisecting/bisect.h"

namespace grurun::report {

/// {"reference", "compared", "absent", "differences", ...}: what bisect_json writes of it.
nlohmann::ordered_json bisection_json(const trial::Bisection& bisection);

}  // namespace grurun::report
