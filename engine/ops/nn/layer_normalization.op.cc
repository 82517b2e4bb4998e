// LayerNormalization (ai.onnx 17; 1 of ONNX Runtime), over the axes from `axis` (default -1) on
//
//   Normalized = (X - Mean) * InvStdDev, InvStdDev = 1 / sqrt(variance + epsilon)
//   Y = Normalized * Scale + B
//
// RMSNormalization (ai.onnx 23)
//
//   Y = X / sqrt(mean(X^2) + epsilon) * scale
//
// Scale and B broadcast to X [d_0 ... d_(axis-1), d_axis ... d_(r-1)]; Mean and InvStdDev are
// [d_0 ... d_(axis-1), 1 ... 1]. The first line is computed in stash_type, of which Mean and InvStdDev are,
// and rounded to X's type; the second in the type of Y, 16-bit floats in float.
#include <algorithm>
#include <limits>

#include "engine/graph/op_context.h"
#include "engine/ops/nn/normalization.h"
#include "engine/ops/nn/row_operand.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

/// Mean or InvStdDev, one value a row, in the type of the computation; nothing where nobody names it.
template <typename C>
class MomentOutput {
 public:
  MomentOutput(RunContext& run, std::size_t index, const Shape& shape) : run_(run), index_(index) {
    wanted_ = run.has_output(index);
    if (wanted_) values_ = Tensor(dtype_of<C>, shape);
    data_ = wanted_ ? values_.mutable_data<C>() : nullptr;
  }
  void set(std::int64_t row, C value) const {
    if (wanted_) data_[row] = value;
  }
  void set_all(C value) const {
    if (wanted_) std::fill_n(data_, values_.size(), value);
  }
  void store(DType stash) {
    if (!wanted_) return;
    Tensor& out = run_.output(index_, stash, values_.shape());
    convert_floats(dtype_of<C>, data_, stash, out.mutable_raw(), values_.size());
  }

 private:
  RunContext& run_;
  std::size_t index_;
  bool wanted_;
  Tensor values_;
  C* data_;
};

template <typename C, typename CY>
Tensor normalize(RunContext& run, const Standardization& one, std::size_t axis) {
  const Tensor& x = run.tensor(0);
  const Tensor& scale = run.tensor(1);
  const Tensor* bias = run.optional_tensor(2);
  const std::int64_t n = x.shape().count(axis, x.rank());
  Shape kept = x.shape();
  for (std::size_t d = axis; d < x.rank(); ++d) kept[d] = 1;
  MomentOutput<C> mean(run, 1, kept), inverse(run, 2, kept);
  const RowOperand<CY> factors(scale, x.shape(), axis);
  const RowOperand<CY> summands = bias == nullptr ? RowOperand<CY>() : RowOperand<CY>(*bias, x.shape(), axis);
  Tensor y(scale.dtype(), x.shape());
  if (n > 0) {
    normalize_rows<C, CY>(
        one, x, n, y,
        [&](std::int64_t row, const CY* from, CY factor, kernels::Rounding rounding, CY* line) {
          const CY* shift = bias == nullptr ? nullptr : summands.row(row);
          kernels::vec_scale<CY>(from, {factor, factors.row(row), true, shift, true, rounding}, line, n);
        },
        [&](std::int64_t row, const RowMoments<C>& found) {
          mean.set(row, found.mean);
          inverse.set(row, found.inverse_deviation);
        });
  } else {
    const C none = std::numeric_limits<C>::quiet_NaN();  // 0 / 0, the mean of no element
    mean.set_all(none);
    inverse.set_all(none);
  }
  mean.store(one.stash);
  inverse.store(one.stash);
  return y;
}

RunFunction step(const Standardization& one, std::int64_t axis) {
  return [one, axis](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(x.rank())));
    const DType type = run.tensor(1).dtype();
    dispatch_stages(one.stash, type,
                    [&]<typename C, typename CY>() { run.set_output(0, normalize<C, CY>(run, one, at)); });
  };
}

RunFunction prepare_layer(PrepareContext& node) {
  // Mean and InvStdDev are of no other type; without them nothing keeps stage one from it.
  const bool has_moments = node.has_output(1) || node.has_output(2);
  const DTypeSet stashes = has_moments ? DTypeSet{DType::float32, DType::bfloat16} : Floats::set;
  return step(Standardization::read(node, stashes), node.int_attribute("axis", -1));
}

RunFunction prepare_rms(PrepareContext& node) {
  Standardization one = Standardization::read(node, Floats::set);
  one.centered = false;
  return step(one, node.int_attribute("axis", -1));
}

}  // namespace

std::vector<OpRow> op_rows_layer_normalization() {
  return {{"", "LayerNormalization", {1, 17}, prepare_layer}, {"", "RMSNormalization", {23}, prepare_rms}};
}

}  // namespace grurun::engine
