// Resize (ai.onnx 10, 11, 13, 18, 19).
//
//   Y [floor(D1 * scale1), ...] or Y [sizes...] of X [D1, ...]; every axis for itself:
//   Y[x_resized] = the value of X at x_original (coordinate_transformation_mode) by nearest, linear or cubic
//
// Version 10 has asymmetric coordinates, nearest by floor (by ceil on an axis whose scale is below 1), and
// linear. 11 adds the attributes for coordinates, nearest_mode, cubic, roi and sizes; 13 lets roi and scales
// be left out; 18 adds antialias, axes and keep_aspect_ratio_policy and drops tf_half_pixel_for_nn; 19 adds
// half_pixel_symmetric. An empty roi, scales or sizes counts as left out. With antialias the filter is
// stretched by 1 / scale where that shrinks, its weights normalised, places beyond an edge taking the edge's
// value. Sums of integers are rounded half to even. nearest takes strings too. What the standard leaves open
// is in docs/ambiguities.md.
#include "engine/ops/tensor/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/cast.h"

namespace grurun::engine {

namespace {

enum class AspectPolicy { stretch, not_larger, not_smaller };

struct Attributes {
  ResizeForm form;
  std::optional<std::vector<std::int64_t>> axes;
  AspectPolicy policy = AspectPolicy::stretch;
};

// The value that goes with the attribute's name.
template <typename Value, std::size_t N>
Value choice(PrepareContext& node, const char* name, const char* fallback,
             const std::array<std::pair<std::string_view, Value>, N>& values) {
  const std::string chosen = node.string_attribute(name, fallback);
  for (const auto& [text, value] : values)
    if (text == chosen) return value;
  refuse();
}

constexpr std::array<std::pair<std::string_view, ResizeMode>, 3> modes{
    {{"nearest", ResizeMode::nearest}, {"linear", ResizeMode::linear}, {"cubic", ResizeMode::cubic}}};

constexpr std::array<std::pair<std::string_view, NearestMode>, 4> nearest_modes{
    {{"round_prefer_floor", NearestMode::round_prefer_floor},
     {"round_prefer_ceil", NearestMode::round_prefer_ceil},
     {"floor", NearestMode::floor},
     {"ceil", NearestMode::ceil}}};

constexpr std::array<std::pair<std::string_view, CoordinateMode>, 7> coordinate_modes{
    {{"half_pixel", CoordinateMode::half_pixel},
     {"half_pixel_symmetric", CoordinateMode::half_pixel_symmetric},
     {"pytorch_half_pixel", CoordinateMode::pytorch_half_pixel},
     {"align_corners", CoordinateMode::align_corners},
     {"asymmetric", CoordinateMode::asymmetric},
     {"tf_crop_and_resize", CoordinateMode::tf_crop_and_resize},
     {"tf_half_pixel_for_nn", CoordinateMode::tf_half_pixel_for_nn}}};

Attributes read_resize_attributes(PrepareContext& node) {
  Attributes read;
  ResizeForm& form = read.form;
  form.mode = choice(node, "mode", "nearest", modes);
  form.coordinates = choice(node, "coordinate_transformation_mode", "half_pixel", coordinate_modes);
  form.nearest = choice(node, "nearest_mode", "round_prefer_floor", nearest_modes);
  form.cubic_coeff_a = static_cast<double>(node.float_attribute("cubic_coeff_a", -0.75f));
  if (!std::isfinite(form.cubic_coeff_a)) refuse();
  form.exclude_outside = node.flag_attribute("exclude_outside", false);
  form.extrapolation_value = node.float_attribute("extrapolation_value", 0.0f);
  if (node.since_version() < 18) return read;
  form.antialias = node.flag_attribute("antialias", false);
  if (node.has_attribute("axes")) read.axes = node.ints_attribute("axes");
  constexpr std::array<std::pair<std::string_view, AspectPolicy>, 3> policies{
      {{"stretch", AspectPolicy::stretch},
       {"not_larger", AspectPolicy::not_larger},
       {"not_smaller", AspectPolicy::not_smaller}}};
  read.policy = choice(node, "keep_aspect_ratio_policy", "stretch", policies);
  return read;
}

// The axes of X that roi, scales and sizes speak of, in their order.
ScratchVector<std::size_t> named_axes(const Attributes& attributes, std::size_t rank) {
  ScratchVector<std::size_t> axes;
  if (!attributes.axes) {
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(d);
    return axes;
  }
  const auto r = static_cast<std::int64_t>(rank);
  for (const std::int64_t axis : *attributes.axes) {
    if (axis < -r || axis >= r) refuse();
    const auto d = static_cast<std::size_t>(axis < 0 ? axis + r : axis);
    if (std::ranges::count(axes, d) != 0) refuse();
    axes.push_back(d);
  }
  return axes;
}

// The input, or nullptr where it is omitted or has no element.
const Tensor* given(RunContext& run, std::size_t index) {
  const Tensor* tensor = run.optional_tensor(index);
  if (tensor && tensor->rank() != 1) refuse();
  return tensor && tensor->size() != 0 ? tensor : nullptr;
}

void require_list(const Tensor& tensor, std::size_t length) {
  if (tensor.rank() != 1 || tensor.size() != static_cast<std::int64_t>(length)) refuse();
}

double checked_scale(float scale) {
  if (!(scale > 0 && std::isfinite(scale))) refuse();
  return static_cast<double>(scale);
}

// [start..., end...] for all axes of X; 0 to 1 for those that roi does not speak of.
ScratchVector<double> full_roi(RunContext& run, const Attributes& attributes,
                               std::span<const std::size_t> axes, std::size_t rank) {
  ScratchVector<double> roi(2 * rank, 0.0);
  std::fill(roi.begin() + static_cast<std::ptrdiff_t>(rank), roi.end(), 1.0);
  if (attributes.form.coordinates != CoordinateMode::tf_crop_and_resize) {
    given(run, 1);  // its values mean nothing here
    return roi;
  }
  const Tensor* tensor = given(run, 1);
  if (!tensor) refuse();
  require_list(*tensor, 2 * axes.size());
  const Tensor wide = cast_tensor(*tensor, DType::float64);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    roi[axes[i]] = wide.data<double>()[i];
    roi[rank + axes[i]] = wide.data<double>()[axes.size() + i];
  }
  return roi;
}

// The axes under not_larger or not_smaller: one scale for all, sizes[i] / input length of the axis where that
// is least or greatest. The output length is rounded half up, from exact fractions.
void keep_aspect(ScratchVector<ResizeAxis>& all, std::span<const std::size_t> axes, AspectPolicy policy,
                 const std::int64_t* sizes) {
  using Wide = __int128;
  std::int64_t numerator = 0, denominator = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t length = all[axes[i]].input;
    if (length == 0) refuse();
    const Wide here = Wide(sizes[i]) * denominator, best = Wide(numerator) * length;
    if (denominator == 0 || (policy == AspectPolicy::not_larger ? here < best : here > best)) {
      numerator = sizes[i];
      denominator = length;
    }
  }
  for (const std::size_t d : axes) {
    ResizeAxis& axis = all[d];
    const Wide rounded = (Wide(2) * numerator * axis.input + denominator) / (Wide(2) * denominator);
    if (rounded > (Wide(1) << 62)) fail(ErrorKind::limit, "axis {} would get a length beyond 2^62", d);
    axis.output = static_cast<std::int64_t>(rounded);
    axis.numerator = static_cast<double>(numerator);
    axis.denominator = static_cast<double>(denominator);
    axis.width = axis.numerator * static_cast<double>(axis.input) / axis.denominator;
    axis.corner_width = static_cast<double>(axis.output);
  }
}

ScratchVector<ResizeAxis> read_axes(RunContext& run, const Attributes& attributes, const Shape& x) {
  const ScratchVector<std::size_t> axes = named_axes(attributes, x.rank());
  const ScratchVector<double> roi = full_roi(run, attributes, axes, x.rank());
  const Tensor* scales = given(run, 2);
  const Tensor* sizes = given(run, 3);
  ScratchVector<ResizeAxis> all;
  for (const std::int64_t length : x) all.push_back(axis_by_size(length, length));
  if (scales) require_list(*scales, axes.size());
  if (sizes) require_list(*sizes, axes.size());
  if (axes.empty() && !run.has_input(2) && !run.has_input(3)) refuse();
  if (axes.empty()) return all;
  if ((scales != nullptr) == (sizes != nullptr)) refuse();
  if (scales) {
    if (attributes.policy != AspectPolicy::stretch) refuse();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::size_t d = axes[i];
      all[d] = axis_by_scale(x[d], checked_scale(scales->data<float>()[i]), roi[d], roi[x.rank() + d]);
    }
    return all;
  }
  const std::int64_t* lengths = sizes->data<std::int64_t>();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = axes[i];
    if (lengths[i] < 0) refuse();
    all[d] = axis_by_size(x[d], lengths[i], roi[d], roi[x.rank() + d]);
  }
  if (attributes.policy != AspectPolicy::stretch) keep_aspect(all, axes, attributes.policy, lengths);
  return all;
}

RunFunction prepare_resize(PrepareContext& node) {
  return [attributes = read_resize_attributes(node)](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const ScratchVector<ResizeAxis> axes = read_axes(run, attributes, x.shape());
    run.check_limits();
    run.set_output(0, resize(x, attributes.form, axes));
  };
}

RunFunction prepare_resize_10(PrepareContext& node) {
  ResizeForm form;
  form.nearest = NearestMode::floor_or_ceil;
  form.mode = choice(node, "mode", "nearest", modes);
  return [form](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& scales = run.tensor(1);
    require_list(scales, x.rank());
    ScratchVector<ResizeAxis> axes;
    for (std::size_t d = 0; d < x.rank(); ++d)
      axes.push_back(axis_by_scale(x.dim(d), checked_scale(scales.data<float>()[d])));
    run.set_output(0, resize(x, form, axes));
  };
}

}  // namespace

std::vector<OpRow> op_rows_resize() {
  return {{"", "Resize", {10}, prepare_resize_10}, {"", "Resize", {11, 13, 18, 19}, prepare_resize}};
}

}  // namespace grurun::engine
