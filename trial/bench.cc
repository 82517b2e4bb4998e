#include "trial/bench.h"

#include <algorithm>
#include <cmath>

namespace grurun::trial {

double BenchResult::quantile(double q) const {
  const double at = q * static_cast<double>(samples_us.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, samples_us.size() - 1);
  return std::lerp(samples_us[below], samples_us[above], at - static_cast<double>(below));
}

}  // namespace grurun::trial
