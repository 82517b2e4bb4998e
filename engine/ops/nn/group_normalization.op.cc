// GroupNormalization (ai.onnx 18, 21).
//
//   Y = scale * (X - mean) / sqrt(variance + epsilon) + bias, mean and variance of each group of C /
//   num_groups channels of X [N, C, D1...Dn], over D1...Dn too
//
// Version 21: scale and bias [C]. The quotient is computed in stash_type and rounded to X's type, the rest in
// X's type. Version 18: scale and bias [num_groups], all in X's type. 16-bit floats are computed in float.
#include "engine/graph/op_context.h"
#include "engine/ops/nn/normalization.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

struct Groups {
  std::int64_t count;     // num_groups
  std::int64_t channels;  // in a group
  std::int64_t plane;     // elements of a channel
};

Groups groups_of(const Tensor& x, std::int64_t count) {
  if (x.rank() < 2 || x.dim(1) % count != 0) refuse();
  return {count, x.dim(1) / count, x.shape().count(2, x.rank())};
}

// line = (from * factor) * scale + bias for a group whose channels begin at `scale` and `bias`.
template <typename CY>
void scale_channels(const Groups& groups, const CY* from, CY factor, kernels::Rounding rounding,
                    const CY* scale, const CY* bias, CY* line) {
  if (groups.plane == 1)
    return kernels::vec_scale<CY>(from, {factor, scale, true, bias, true, rounding}, line, groups.channels);
  for (std::int64_t c = 0; c < groups.channels; ++c) {
    const std::int64_t at = c * groups.plane;
    kernels::vec_scale<CY>(from + at, {factor, scale + c, false, bias + c, false, rounding}, line + at,
                           groups.plane);
  }
}

template <typename C, typename CY>
Tensor normalize(RunContext& run, const Standardization& one, std::int64_t num_groups, bool by_channel) {
  const Tensor& x = run.tensor(0);
  const Groups groups = groups_of(x, num_groups);
  const Shape stated{by_channel ? x.dim(1) : num_groups};
  if (!(run.tensor(1).shape() == stated) || !(run.tensor(2).shape() == stated)) refuse();
  const Tensor scale = widened<CY>(run.tensor(1)), bias = widened<CY>(run.tensor(2));
  const CY *s = scale.data<CY>(), *b = bias.data<CY>();
  Tensor y(x.dtype(), x.shape());
  const std::int64_t n = groups.channels * groups.plane;
  if (y.size() == 0) return y;
  normalize_rows<C, CY>(
      one, x, n, y,
      [&](std::int64_t row, const CY* from, CY factor, kernels::Rounding rounding, CY* line) {
        const std::int64_t group = row % groups.count;
        if (by_channel) {
          return scale_channels(groups, from, factor, rounding, s + group * groups.channels,
                                b + group * groups.channels, line);
        }
        kernels::vec_scale<CY>(from, {factor, s + group, false, b + group, false, rounding}, line, n);
      },
      [](std::int64_t, const RowMoments<C>&) {});
  return y;
}

RunFunction prepare_group_normalization(PrepareContext& node) {
  const std::int64_t num_groups = node.int_attribute("num_groups");
  const bool by_channel = node.since_version() >= 21;
  Standardization one = Standardization::read(node, Floats::set);
  return [=](RunContext& run) {
    const DType type = run.tensor(0).dtype();
    Standardization stage = one;
    if (!by_channel) {
      stage.stash = type == DType::float64 ? type : DType::float32;
      stage.rounded = false;
    }
    dispatch_stages(stage.stash, type, [&]<typename C, typename CY>() {
      run.set_output(0, normalize<C, CY>(run, stage, num_groups, by_channel));
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_group_normalization() {
  return {{"", "GroupNormalization", {18, 21}, prepare_group_normalization}};
}

}  // namespace grurun::engine
