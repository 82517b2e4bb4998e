#include "trial/diagnosis/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace grurun::trial::diagnosis {
namespace {

/// Enough for any number of parameters that is fitted, and few enough to take no time.
constexpr std::size_t most_counted = 1u << 16;

using Seen = std::unordered_set<double>;

/// How many values are different from each other and from those seen before.
std::int64_t different(const std::vector<double>& values, Seen& seen) {
  const std::size_t before = seen.size();
  // Odd: no axis of usual length is seen at a few places only.
  const std::size_t stride = values.size() / most_counted | 1;
  for (std::size_t i = 0; i < values.size(); i += stride) seen.insert(values[i]);
  return static_cast<std::int64_t>(seen.size() - before);
}

/// By element of Y_h: it says what the last valid Y of its row says.
std::vector<bool> repeated_in_Y_h(const Expected& expected, const Candidate& stated) {
  const Layer& layer = stated.layer;
  const std::vector<double>& Y_h = expected.output(1)->values;
  std::vector<bool> out(Y_h.size(), false);
  for (std::int64_t d = 0; d < layer.num_directions; ++d) {
    for (std::int64_t n = 0; n < layer.batch_size; ++n) {
      const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
      if (length == 0) continue;
      const std::int64_t last = layer.reversed[static_cast<std::size_t>(d)] ? 0 : length - 1;
      const double* of_Y = expected.Y_at(stated, last, d, n);
      const double* of_Y_h = expected.state_at(stated, 0, d, n);
      for (std::int64_t k = 0; k < layer.hidden_size; ++k)
        out[static_cast<std::size_t>(of_Y_h + k - Y_h.data())] = expected.near(of_Y_h[k], of_Y[k]);
    }
  }
  return out;
}

bool is_constant(const Expected& expected, const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double value) { return expected.near(value, values.front()); });
}

}  // namespace

Evidence weigh(const Expected& expected, const Candidate& stated, DType dtype) {
  Evidence out;
  const bool own_shapes = expected.has_shapes_of(stated);
  const auto computed = own_shapes ? compute_outputs(expected, stated, dtype) : std::array<Value, 3>();
  std::vector<bool> repeated;
  if (own_shapes && expected.Y() && expected.output(1)) repeated = repeated_in_Y_h(expected, stated);
  bool all_constant = true;
  Seen seen;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    if (!expected.output(i)) continue;
    const std::vector<double>& values = expected.output(i)->values;
    std::int64_t wrong = 0, repeats = 0;
    if (own_shapes) {
      const std::vector<double> here = doubles_of(computed[i].tensor());
      for (std::size_t k = 0; k < here.size(); ++k) {
        if (expected.near(here[k], values[k])) continue;
        ++wrong;
        repeats += i == 1 && !repeated.empty() && repeated[k] ? 1 : 0;
      }
    } else {
      wrong = std::ranges::count_if(values, [](double value) { return value != 0; });
    }
    out.wrong += wrong;
    if (wrong == 0) continue;
    const bool constant = is_constant(expected, values);
    // In other shapes it is not known what repeats what: there equal values count once over all outputs.
    if (own_shapes) seen.clear();
    out.elements += constant ? 1 : std::min(wrong - repeats, different(values, seen));
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

}  // namespace grurun::trial::diagnosis
