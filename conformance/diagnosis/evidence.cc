#include "conformance/diagnosis/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace grurun::conformance::diagnosis {
namespace {

/// Enough for any number of parameters that is fitted.
constexpr std::size_t most_counted = 1u << 20;

std::int64_t different(const std::vector<double>& values) {
  const std::size_t stride = values.size() / most_counted + 1;
  std::unordered_set<double> seen;
  for (std::size_t i = 0; i < values.size(); i += stride) seen.insert(values[i]);
  return static_cast<std::int64_t>(seen.size());
}

bool is_constant(const Expected& expected, const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double value) { return expected.near(value, values.front()); });
}

}  // namespace

Evidence weigh(const Expected& expected, const Candidate& stated, DType dtype) {
  Evidence out;
  const bool own_shapes = expected.has_shapes_of(stated);
  const auto computed = own_shapes ? compute_outputs(expected, stated, dtype) : std::array<Value, 3>();
  bool all_constant = true;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    if (!expected.output(i)) continue;
    const std::vector<double>& values = expected.output(i)->values;
    std::int64_t wrong = 0;
    if (own_shapes) {
      const std::vector<double> here = doubles_of(computed[i].tensor());
      for (std::size_t k = 0; k < here.size(); ++k) wrong += expected.near(here[k], values[k]) ? 0 : 1;
    } else {
      wrong = std::ranges::count_if(values, [](double value) { return value != 0; });
    }
    out.wrong += wrong;
    if (wrong == 0) continue;
    const bool constant = is_constant(expected, values);
    out.elements += constant ? 1 : std::min(wrong, different(values));
    all_constant = all_constant && constant;
    static constexpr const char* names[] = {"Y", "Y_h", "Y_c"};
    out.constant +=
        fmt::format("{}{} is {:.6g} everywhere", out.constant.empty() ? "" : ", ", names[i], values.front());
  }
  if (all_constant)
    out.elements = std::min<std::int64_t>(out.elements, 1);  // Y_h repeats what Y says
  else
    out.constant.clear();
  return out;
}

}  // namespace grurun::conformance::diagnosis
