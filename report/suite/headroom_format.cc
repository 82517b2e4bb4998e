#include "report/suite/headroom_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "conformance/rejudge.h"
#include "conformance/version.h"
#include "report/json_text.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using namespace grurun::conformance;
using Json = nlohmann::ordered_json;

/// Calls visit(case, result, output, element type) for each output whose elements were compared.
template <typename Visit>
void each_output(const SuiteResult& suite, const Visit& visit) {
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    if (!suite.outcomes[i].ran) continue;
    const CaseResult& result = suite.outcomes[i].result;
    for (const OutputResult& output : result.outputs)
      if (!output.random && output.comparison.structure.empty())
        visit(suite.cases[i], result, output, element_type_of(output.comparison.expected_type));
  }
}

struct Need {
  std::size_t outputs = 0, hopeless = 0;
  double atol = 0, rtol = 0;  // of those that are not hopeless; rtol: infinite where only an atol helps
  std::uint64_t max_ulp = 0;
  bool has_ulp = false;
  trial::UlpCounts ulps;
  std::int64_t equal = 0;

  void add(const trial::Comparison& comparison) {
    ++outputs;
    const trial::Headroom& headroom = comparison.headroom;
    if (headroom.is_hopeless()) {
      ++hopeless;
    } else {
      atol = std::max(atol, headroom.least_atol(comparison.tolerance.rtol));
      rtol = std::max(rtol, headroom.least_rtol(comparison.tolerance.atol));
    }
    has_ulp = has_ulp || comparison.errors.max_ulp.has_value();
    max_ulp = std::max(max_ulp, comparison.errors.max_ulp.value_or(0));
    equal += comparison.errors.total - comparison.unequal;
    if (ulps.size() < comparison.ulps.size()) ulps.resize(comparison.ulps.size());
    for (std::size_t k = 0; k < comparison.ulps.size(); ++k) ulps[k] += comparison.ulps[k];
  }
};

std::string least_text(double number) {
  return std::isfinite(number) ? fmt::format("{:.3g}", number) : "none";
}

/// "0: 12, 1: 3, 2-3: 1".
std::string distribution(const Need& need) {
  std::string out = fmt::format("0: {}", need.equal);
  for (std::size_t k = 1; k < need.ulps.size(); ++k) {
    if (need.ulps[k] == 0) continue;
    const std::uint64_t first = std::uint64_t{1} << (k - 1);
    const std::uint64_t last = first + (first - 1);
    out += first == last ? fmt::format(", {}: {}", first, need.ulps[k])
                         : fmt::format(", {}-{}: {}", first, last, need.ulps[k]);
  }
  return out;
}

std::map<std::string, Need> needs_by_type(const SuiteResult& suite) {
  std::map<std::string, Need> out;
  each_output(suite, [&](const Case&, const CaseResult&, const OutputResult& output,
                         const std::string& type) { out[type].add(output.comparison); });
  return out;
}

struct OutputNeed {
  std::string name;
  double atol, rtol;
  const trial::Comparison* comparison;
};

/// Those that need most first: beyond the tolerance they were judged by, what is left of it.
std::vector<OutputNeed> needs_by_output(const SuiteResult& suite) {
  std::vector<OutputNeed> out;
  each_output(suite,
              [&](const Case& test, const CaseResult&, const OutputResult& output, const std::string&) {
                const trial::Comparison& comparison = output.comparison;
                if (comparison.unequal == 0) return;
                const std::string set = output.data_set.empty() ? "" : ", " + output.data_set;
                out.push_back({fmt::format("{}{}, output '{}'", test.full_name(), set, output.name),
                               comparison.headroom.least_atol(comparison.tolerance.rtol),
                               comparison.headroom.least_rtol(comparison.tolerance.atol), &comparison});
              });
  const auto used = [](const OutputNeed& need) {
    const double rtol = need.comparison->tolerance.rtol;
    return rtol > 0 ? need.comparison->headroom.least_rtol(need.comparison->tolerance.atol) / rtol
                    : need.atol;
  };
  std::ranges::stable_sort(out, std::ranges::greater(), used);
  return out;
}

}  // namespace

std::string element_type_of(const std::string& described) {
  const DType type = conformance::element_type(described);
  return type == DType::undefined ? "" : dtype_name(type);
}

std::string headroom_text(const HeadroomView& view) {
  std::string out = fmt::format("{:<16} {:>7} {:>11} {:>11} {:>11}  representable values apart: elements\n",
                                "type", "outputs", "least atol", "least rtol", "max ulp");
  for (const auto& [type, need] : needs_by_type(view.suite)) {
    out += fmt::format("{:<16} {:>7} {:>11} {:>11} {:>11}  {}\n", type, need.outputs, least_text(need.atol),
                       least_text(need.rtol), need.has_ulp ? fmt::format("{}", need.max_ulp) : "-",
                       need.has_ulp ? distribution(need) : "-");
    if (need.hopeless > 0)
      out += fmt::format("{:<16} {:>7} of these pass by no tolerance: NaN, infinity, text or truth values\n",
                         "", need.hopeless);
  }
  const std::vector<OutputNeed> needs = needs_by_output(view.suite);
  if (!needs.empty())
    out += "\noutputs that need most (atol at the rtol they were judged by, rtol at the atol)\n";
  constexpr std::size_t shown = 20;
  for (std::size_t i = 0; i < std::min(needs.size(), shown); ++i)
    out += fmt::format("{:>11} {:>11}  {}\n", least_text(needs[i].atol), least_text(needs[i].rtol),
                       printable(needs[i].name));
  if (needs.size() > shown)
    out += fmt::format("and {} more; --report json=FILE has them all\n", needs.size() - shown);
  return out;
}

std::string headroom_json(const HeadroomView& view) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  Json out = {{"format", 1}, {"grurun", conformance::version()}};
  out["by_type"] = Json::object();
  for (const auto& [type, need] : needs_by_type(view.suite))
    out["by_type"][type] = {{"outputs", need.outputs},
                            {"hopeless", need.hopeless},
                            {"least_atol", number(need.atol)},
                            {"least_rtol", number(need.rtol)},
                            {"max_ulp", need.has_ulp ? Json(need.max_ulp) : Json(nullptr)},
                            {"equal", need.equal},
                            {"ulps", need.ulps}};
  out["headroom_of_outputs"] = Json::array();
  for (const OutputNeed& need : needs_by_output(view.suite))
    out["headroom_of_outputs"].push_back({{"output", printable(need.name)},
                                          {"least_atol", number(need.atol)},
                                          {"least_rtol", number(need.rtol)}});
  return json_text(out, 1);
}

}  // namespace grurun::report
