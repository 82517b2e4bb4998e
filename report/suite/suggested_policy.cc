#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "conformance/rejudge.h"
#include "report/counted.h"
#include "report/suite/headroom_format.h"

namespace grurun::report {

namespace {

using namespace grurun::conformance;

/// A few steps of the type: what no computation can do without.
double natural_rtol(DType type) {
  switch (type) {
    case DType::float64:
      return 0x1p-50;
    case DType::float32:
    case DType::complex64:
      return 0x1p-21;
    case DType::float16:
      return 0x1p-9;
    case DType::bfloat16:
      return 0x1p-6;
    case DType::complex128:
      return 0x1p-50;
    default:
      return is_floating(type) ? 0x1p-2 : 0;
  }
}

struct Group {
  std::vector<const trial::Headroom*> outputs;

  double least_atol(double rtol) const {
    double least = 0;
    for (const trial::Headroom* headroom : outputs) least = std::max(least, headroom->least_atol(rtol));
    return least;
  }
};

/// A TOML string.
std::string text_of(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + "\"";
}

/// With three digits, not below, as TOML has floats.
std::string number_of(double value) {
  if (value == 0) return "0.0";
  std::string text = fmt::format("{:.2e}", value);
  for (double more = 1; std::strtod(text.c_str(), nullptr) < value; more += 1)
    text = fmt::format("{:.2e}", value * (1 + more * 0.005));
  return text;
}

}  // namespace

std::string suggested_policy(const SuiteResult& result) {
  std::map<std::pair<std::string, DType>, Group> groups;  // by operator, or pattern of the one case
  std::size_t without = 0;
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    if (!result.outcomes[i].ran) continue;
    const CaseResult& ended = result.outcomes[i].result;
    for (const OutputResult& output : ended.outputs) {
      const DType type = element_type(output.comparison.expected_type);
      if (output.random || !output.comparison.structure.empty() || output.comparison.errors.total == 0)
        continue;
      if (output.comparison.headroom.is_hopeless()) {
        ++without;
        continue;
      }
      if (type == DType::string || type == DType::boolean || type == DType::undefined) continue;
      const bool is_of_one = ended.operators.size() == 1;
      const std::string key = is_of_one ? "operator = " + text_of(ended.operators[0])
                                        : "case = " + text_of(result.cases[i].full_name());
      groups[{key, type}].outputs.push_back(&output.comparison.headroom);
    }
  }
  std::string out =
      "# Tolerances that a run of grurun conformance needed, doubled. Edit the reasons: a policy says why.\n"
      "# The first rule that matches an output decides.\n";
  if (without > 0)
    out +=
        fmt::format("# {} passed by no tolerance, and count for nothing here.\n", counted(without, "output"));
  // Rules for cases come first, so that those for operators do not take their outputs.
  for (const bool for_cases : {true, false}) {
    for (const auto& [key, group] : groups) {
      if (key.first.starts_with("case") != for_cases) continue;
      const double exact = group.least_atol(0);
      const double rtol = exact == 0 ? 0 : natural_rtol(key.second);
      out += fmt::format("\n[[rule]]\n{}\ntype = \"{}\"\nrtol = {}\natol = {}\nreason = \"{}\"\n", key.first,
                         dtype_name(key.second), number_of(2 * rtol), number_of(2 * group.least_atol(rtol)),
                         exact == 0 ? "every bit agreed"
                                    : "twice what " + counted(group.outputs.size(), "output") + " needed");
    }
  }
  return out;
}

}  // namespace grurun::report
