#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

using onnx_io::Node;

std::optional<std::string> values_of_constant(const Node& node, int) {
  const auto count = std::ranges::count_if(node.attributes, [](const auto& attribute) {
    return attribute.name.starts_with("value") || attribute.name == "sparse_value";
  });
  if (count == 1) return std::nullopt;
  return fmt::format("Constant needs exactly one attribute that holds its value, but has {}", count);
}

std::optional<std::string> value_of_one(const Node& node, int) {
  const onnx_io::Attribute* value = node.find_attribute("value");
  if (value == nullptr || value->tensors.empty() || value->tensors.front().size() == 1) return std::nullopt;
  return fmt::format("value must hold one element, but has shape {}",
                     value->tensors.front().shape().to_string());
}

std::optional<std::string> filled_shape(const Node& node, int) {
  const auto states = [&](const char* name) { return node.find_attribute(name) != nullptr; };
  const auto number = [&](const char* name, float otherwise) {
    const onnx_io::Attribute* found = node.find_attribute(name);
    return found == nullptr                              ? otherwise
           : found->type == onnx_io::AttributeType::int_ ? static_cast<float>(found->i)
                                                         : found->f;
  };
  const bool has_input = !node.inputs.empty() && !node.inputs[0].empty();
  if (has_input && states("shape")) return "shape and an input cannot be given together";
  if (!has_input && states("extra_shape")) return "extra_shape needs an input";
  if (!has_input && number("input_as_shape", 0) != 0) return "input_as_shape is 1, but there is no input";
  const onnx_io::Attribute* stated = node.find_attribute("dtype");
  const DType dtype = stated == nullptr           ? DType::float32
                      : is_valid_dtype(stated->i) ? static_cast<DType>(stated->i)
                                                  : DType::undefined;
  const float value = number("value", 0);
  if ((dtype == DType::int32 || dtype == DType::int64) && !(value >= -0x1p31F && value < 0x1p31F))
    return fmt::format("value {} is no element of an integer tensor", value);
  return std::nullopt;
}

std::optional<std::string> drawn_interval(const Node& node, int) {
  const bool uniform = node.op_type.starts_with("RandomUniform");
  const char *first = uniform ? "low" : "mean", *second = uniform ? "high" : "scale";
  const auto number = [&](const char* name, float otherwise) {
    const onnx_io::Attribute* found = node.find_attribute(name);
    return found == nullptr || !found->ref_attr_name.empty() ? otherwise : found->f;
  };
  const float begin = number(first, 0), end = number(second, 1);
  if (!std::isfinite(begin) || !std::isfinite(end))
    return fmt::format("{} and {} must be finite, but are {} and {}", first, second, begin, end);
  if (uniform && begin > end) return fmt::format("low is {}, above high, which is {}", begin, end);
  return std::nullopt;
}

void check_drawn_type(const NodeFacts& facts) {
  const DType dtype = facts.dtype(0);
  if (facts.attribute("dtype") == nullptr && dtype != DType::undefined && !is_floating(dtype))
    fail_invalid("the input is {}, which cannot be drawn: state a floating-point dtype", dtype_name(dtype));
}

void check_filled_shape(const NodeFacts& facts) {
  const auto sizes = integers_in(facts, 0);
  const bool as_shape = facts.int_attribute("input_as_shape", 0) != 0;
  const SymbolicShape* input = facts.shape(0);
  if (as_shape && input != nullptr && rank_of(*input) > 1)
    fail_invalid("input is {}, but must list the sizes of a shape", to_string(*input));
  if (as_shape && facts.has_input(0) && facts.dtype(0) != DType::undefined &&
      facts.dtype(0) != DType::int32 && facts.dtype(0) != DType::int64)
    fail_invalid("input is {}, but sizes are integers", dtype_name(facts.dtype(0)));
  for (const std::int64_t size : sizes&& as_shape ? *sizes : std::vector<std::int64_t>())
    if (size < 0) fail_invalid("the shape to fill holds {}", size);
}

void check_log_probabilities(const NodeFacts& facts) {
  const Size classes = size_of(facts.shape(0), 1);
  if (classes && *classes > std::numeric_limits<std::int32_t>::max() && facts.int_attribute("dtype", 6) == 6)
    fail_invalid("{} classes cannot be numbered by int32: state dtype int64", *classes);
  const auto numbers = numbers_in(facts, 0);
  if (!numbers || !classes || facts.int_attribute("sample_size", 1) == 0) return;
  for (std::size_t row = 0, at = 0; at < numbers->size() || (*classes == 0 && row < 1); ++row) {
    bool any = false;
    for (std::int64_t c = 0; c < *classes; ++c, ++at) {
      const double logit = (*numbers)[at];
      if (std::isnan(logit) || logit == std::numeric_limits<double>::infinity())
        fail_invalid("the input holds {} for class {} of row {}, which is no log-probability", logit, c, row);
      any = any || !std::isinf(logit);
    }
    if (!any && size_of(facts.shape(0), 0).value_or(1) > 0)
      fail_invalid("row {} of the input has no class that could be drawn", row);
  }
}

void check_range(const NodeFacts& facts) {
  const auto number = [&](std::size_t i) {
    const auto numbers = numbers_in(facts, i);
    return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
  };
  // com.microsoft takes 1 for a delta that is left out.
  const auto start = number(0), limit = number(1), delta = facts.has_input(2) ? number(2) : 1.0;
  if (delta == 0.0) fail_invalid("delta is 0: it must be another number");
  for (const std::size_t i : {0, 1, 2})
    if (const auto known = number(i); known && std::isnan(*known))
      fail_invalid("{} is NaN: it must be a number", input_name(facts, i));
  if (!start || !limit || !delta) return;
  const double count = std::ceil((*limit - *start) / *delta);
  if (std::isnan(count) || count == std::numeric_limits<double>::infinity())
    fail_invalid("the range from {} to {} by {} has no end", *start, *limit, *delta);
}

}  // namespace grurun::opset
