#include "opset/pages/judge_page.h"

#include <algorithm>

#include "opset/pages/attribute_lists.h"
#include "opset/pages/attribute_values.h"
#include "opset/pages/input_shapes.h"
#include "opset/pages/page_rules.h"
#include "opset/pages/stated_numbers.h"
#include "opset/schema/signature.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// An attribute of another type has a finding of its own, and no rule reads it.
bool has_stated_types(const onnx_io::Node& node, int since_version) {
  const Signature* signature = find_signature(node.op_type, node.domain, since_version);
  if (signature == nullptr) return true;
  return std::ranges::all_of(node.attributes, [&](const onnx_io::Attribute& attribute) {
    const auto known = std::ranges::find_if(signature->attributes, [&](const SignatureAttribute& stated) {
      return attribute.name == stated.name;
    });
    return known == signature->attributes.end() || known->type == attribute.type;
  });
}

}  // namespace

std::vector<Fault> attribute_value_faults(const onnx_io::Node& node, int since_version) {
  std::vector<Fault> faults;
  const Page* page = find_page(node.domain, node.op_type);
  if (page == nullptr || !has_stated_types(node, since_version)) return faults;
  if (auto value = attribute_value_fault(*page, node, since_version))
    faults.push_back({Rule::attribute_value, std::move(*value)});
  const bool judged = !refers_to_others(node);  // what a caller states is not known
  auto together = judged ? attribute_list_fault(*page, node) : std::nullopt;
  if (judged && !together && page->together != nullptr) together = page->together(node, since_version);
  if (together) faults.push_back({Rule::attributes_together, std::move(*together)});
  if (auto axis = judged ? axis_range_fault(node) : std::nullopt)
    faults.push_back({Rule::inference, std::move(*axis)});
  return faults;
}

std::optional<Fault> input_fault(const NodeFacts& facts) {
  const Page* page = find_page(facts.domain(), facts.op_type());
  if (page == nullptr) return std::nullopt;
  try {
    check_input_shapes(*page, facts);
    check_numbers(*page, facts);
    for (const PageRule& rule : page->rules) {
      const int version = facts.since_version();
      if (rule.check != nullptr && rule.since <= version && version <= rule.until) rule.check(facts);
    }
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
