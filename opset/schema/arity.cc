#include "opset/schema/arity.h"

#include <fmt/format.h>

#include <algorithm>

namespace grurun::opset {

namespace {

// "2", "1 to 3", "at least 1".
std::string range_text(int min, int max) {
  if (min == max) return fmt::format("{}", min);
  if (max >= 1'000'000) return fmt::format("at least {}", min);
  return fmt::format("{} to {}", min, max);
}

std::string parameter_list(const std::vector<ParameterInfo>& parameters) {
  std::string list;
  for (const ParameterInfo& parameter : parameters) {
    if (!list.empty()) list += ", ";
    list += parameter.name;
    if (parameter.kind == ParameterKind::optional) list += "?";
    if (parameter.kind == ParameterKind::variadic) list += "...";
  }
  return list;
}

struct Side {
  const std::vector<std::string>& names;
  const std::vector<ParameterInfo>& parameters;
  int min;
  int max;
  const char* noun;
  const char* verb;
  bool repeats_all;  // of a variadic parameter none may be omitted
};

ArityFaults judge_side(const NodeAt& at, const Side& side) {
  ArityFaults faults;
  const int count = static_cast<int>(std::min<std::size_t>(side.names.size(), 1u << 30));
  if (count < side.min || count > side.max) {
    faults.count =
        fmt::format("{} {}{}; {} {} {}{}", count, side.noun, count == 1 ? "" : "s", at.op(), side.verb,
                    range_text(side.min, side.max),
                    side.parameters.empty() ? "" : fmt::format(" ({})", parameter_list(side.parameters)));
  }
  for (std::size_t i = 0; i < side.names.size() && !side.parameters.empty(); ++i) {
    const ParameterInfo& parameter = side.parameters[std::min(i, side.parameters.size() - 1)];
    const bool repeats = parameter.kind == ParameterKind::variadic;
    if (!repeats && i >= side.parameters.size()) break;
    if (!side.names[i].empty() || parameter.kind == ParameterKind::optional || (repeats && !side.repeats_all))
      continue;
    faults.omitted.push_back(
        fmt::format("{} {} ({}) is omitted, but it is required", side.noun, i, parameter.name));
  }
  return faults;
}

}  // namespace

ArityFaults judge_inputs(const NodeAt& at, const SchemaInfo& schema) {
  return judge_side(
      at, {at.node.inputs, schema.inputs, schema.min_input, schema.max_input, "input", "takes", true});
}

ArityFaults judge_outputs(const NodeAt& at, const SchemaInfo& schema) {
  return judge_side(
      at, {at.node.outputs, schema.outputs, schema.min_output, schema.max_output, "output", "gives", false});
}

}  // namespace grurun::opset
