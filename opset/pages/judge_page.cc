#include "opset/pages/judge_page.h"

#include "opset/pages/axis_rules.h"
#include "opset/pages/input_shapes.h"
#include "opset/pages/named_values.h"
#include "opset/pages/number_bounds.h"
#include "opset/pages/size_rules.h"
#include "opset/pages/window_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

std::vector<Fault> attribute_value_faults(const onnx_io::Node& node, int since_version) {
  std::vector<Fault> faults;
  if (auto together = window_fault(node, since_version))
    faults.push_back({Rule::attributes_together, std::move(*together)});
  auto value = named_value_fault(node, since_version);
  if (!value) value = number_bound_fault(node, since_version);
  if (value) faults.push_back({Rule::attribute_value, std::move(*value)});
  return faults;
}

std::optional<Fault> input_fault(const NodeFacts& facts) {
  if (!facts.domain().empty()) return std::nullopt;
  try {
    check_axis_range(facts);
    check_input_shapes(facts);
    check_axis_lists(facts);
    check_sizes(facts);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_model) throw;
    return Fault{Rule::inference, error.message()};
  }
  return std::nullopt;
}

std::optional<Fault> judge_page(const NodeFacts& facts) {
  const std::vector<Fault> faults = attribute_value_faults(facts.node(), facts.since_version());
  return faults.empty() ? input_fault(facts) : std::optional(faults.front());
}

}  // namespace grurun::opset
