// Resize and Upsample: what scales, sizes and roi may hold, for each axis that they speak of.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "opset/pages/attribute_lists.h"
#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// Whether an input has an element: one that is left out, or empty, says nothing.
std::optional<bool> holds_any(const NodeFacts& facts, std::size_t input) {
  if (!facts.has_input(input)) return false;
  const SymbolicShape* shape = facts.shape(input);
  const Size count = shape == nullptr ? std::nullopt : count_of(sizes_of(*shape));
  return count ? std::optional(*count != 0) : std::nullopt;
}

void require_length(const NodeFacts& facts, std::size_t input, std::int64_t wanted) {
  const Size length = size_of(facts.shape(input), 0);
  if (length && *length != 0 && *length != wanted)
    fail_invalid("{} has {} numbers, but must have {}: X is {}", input_name(facts, input), *length, wanted,
                 facts.shape(0) == nullptr ? "of another rank" : to_string(*facts.shape(0)));
}

void require_scales(const std::vector<double>& scales, double least) {
  for (const double scale : scales)
    if (!(least > 0 ? scale >= least : scale > 0) || !std::isfinite(scale))
      fail_invalid("scales holds {}, but must hold numbers {}", scale,
                   least > 0 ? "from 1 on; Resize makes an axis shorter" : "above 0");
}

bool is_stated(const NodeFacts& facts, const char* attribute, const char* value) {
  const onnx_io::Attribute* stated = facts.attribute(attribute);
  return stated != nullptr && stated->s == value;
}

// An axis without elements has no ratio to keep, and nothing that a longer one could be made of.
void require_elements(const NodeFacts& facts, const std::vector<std::int64_t>& axes,
                      const std::vector<std::int64_t>& sizes) {
  if (facts.shape(0) == nullptr || axes.size() != sizes.size()) return;
  const onnx_io::Attribute* policy = facts.attribute("keep_aspect_ratio_policy");
  const bool keeps = policy != nullptr && policy->s != "stretch";
  Sizes made = sizes_of(*facts.shape(0));
  for (std::size_t i = 0; i < axes.size(); ++i) made.at(static_cast<std::size_t>(axes[i])) = sizes[i];
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (size_of(facts.shape(0), static_cast<int>(axes[i])) != 0) continue;
    if (keeps || count_of(made).value_or(0) != 0)
      fail_invalid("axis {} of X has length 0: it cannot be resized to {}", axes[i], sizes[i]);
  }
}

// floor(length * (end - start) * scale) for each of axes.
void require_output(const NodeFacts& facts, const std::vector<std::int64_t>& axes,
                    const std::vector<double>& scales, const std::vector<double>& roi) {
  for (std::size_t i = 0; i < axes.size() && i < scales.size(); ++i) {
    const Size size = size_of(facts.shape(0), static_cast<int>(axes[i]));
    const double part = i + axes.size() < roi.size() ? roi[i + axes.size()] - roi[i] : 1;
    const double output = std::floor(static_cast<double>(size.value_or(0)) * part * scales[i]);
    if (!(output >= 0 && output < 0x1p62))
      fail_invalid("axis {} of X, of length {}, with scale {} would get the length {}", axes[i],
                   size.value_or(0), scales[i], output);
  }
}

std::vector<std::int64_t> all_axes(const SymbolicShape& X) {
  std::vector<std::int64_t> axes(X.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

void check_resize_10(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  if (X != nullptr) {
    const Size length = size_of(facts.shape(1), 0);
    if (length == 0 && rank_of(*X) != 0) fail_invalid("scales is empty, but X is {}", to_string(*X));
    require_length(facts, 1, rank_of(*X));
  }
  const auto scales = numbers_in(facts, 1);
  if (scales) require_scales(*scales, 0);
  if (scales && X != nullptr) require_output(facts, all_axes(*X), *scales, {});
}

void check_resize(const NodeFacts& facts) {
  const onnx_io::Attribute* stated = facts.attribute("axes");
  const onnx_io::Attribute* cubic = facts.attribute("cubic_coeff_a");
  if (cubic != nullptr && !std::isfinite(cubic->f)) fail_invalid("cubic_coeff_a is {}", cubic->f);
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr && stated == nullptr) return;
  std::vector<std::int64_t> axes = stated != nullptr ? stated->ints : all_axes(*X);
  for (std::int64_t& axis : axes)
    if (axis < 0 && X != nullptr) axis += rank_of(*X);
  const auto scales = holds_any(facts, 2), sizes = holds_any(facts, 3), roi = holds_any(facts, 1);
  const bool crops = is_stated(facts, "coordinate_transformation_mode", "tf_crop_and_resize");
  if (crops && roi == false) fail_invalid("tf_crop_and_resize needs the input roi");
  const auto count = std::ssize(axes);
  if (crops) require_length(facts, 1, 2 * count);
  require_length(facts, 2, count);
  require_length(facts, 3, count);
  if (count == 0 && X != nullptr && !facts.has_input(2) && !facts.has_input(3))
    fail_invalid("exactly one of scales and sizes must be given, but none are");
  if (count == 0) return;
  if (scales && scales == sizes)
    fail_invalid("exactly one of scales and sizes must be given, but {} are", *scales ? "both" : "none");
  if (scales == true && facts.attribute("keep_aspect_ratio_policy") != nullptr &&
      !is_stated(facts, "keep_aspect_ratio_policy", "stretch"))
    fail_invalid("keep_aspect_ratio_policy speaks of sizes, but scales are given");
  if (const auto numbers = numbers_in(facts, 2); scales == true && numbers) {
    require_scales(*numbers, 0);
    const auto parts = crops ? numbers_in(facts, 1) : std::nullopt;
    if (!crops || parts) require_output(facts, axes, *numbers, parts.value_or(std::vector<double>()));
  }
  if (const auto listed = integers_in(facts, 3); sizes == true && listed)
    require_elements(facts, axes, *listed);
}

// Version 1 has attributes for two axes of four, 7 for all; later ones have an input.
void check_upsample(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  const onnx_io::Node& node = facts.node();
  const auto& stated = floats_of(node, "scales");
  std::optional<std::vector<double>> scales = numbers_in(facts, 1);
  if (facts.since_version() == 7) scales.emplace(stated.begin(), stated.end());
  if (facts.since_version() == 1)
    scales = {1, 1, float_of(node, "height_scale"), float_of(node, "width_scale")};
  const Size length = scales ? Size(std::ssize(*scales)) : size_of(facts.shape(1), 0);
  if (X != nullptr && length && *length != rank_of(*X))
    fail_invalid("scales has {} numbers, but X {} has {} axes", *length, to_string(*X), rank_of(*X));
  if (!scales) return;
  require_scales(*scales, 1);
  if (X != nullptr) require_output(facts, all_axes(*X), *scales, {});
}

}  // namespace grurun::opset
