// DFT (ai.onnx 17, 20).
//
//   y[k] = sum_n x[n] exp(-2 pi i k n / N)                inverse: x[n] = 1/N sum_k y[k] exp(2 pi i k n / N)
//
// along one axis of input [..., 1] (real) or [..., 2] (real and imaginary part). N is dft_length, a signal is
// cut or padded with zeros to it; by default the size of the axis, with onesided inverse 2 * (size - 1).
// - onesided = 0: output [..., N, ..., 2].
// - onesided = 1, inverse = 0: real input; the first N/2 + 1 values, [..., 2].
// - onesided = 1, inverse = 1: complex input, of which the first N/2 + 1 values stand for a symmetric
// spectrum;
//   output [..., N, ..., 1], real.
// axis: attribute, default 1 (17); input, default -2 (20). It may not be the last.
// Transforms of float and narrower types are computed in float, but for lengths with a large prime factor.
#include "engine/graph/op_context.h"
#include "engine/ops/math/fft.h"
#include "engine/ops/shared/integer_list.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct Transform {
  bool inverse;
  bool onesided;
  std::int64_t length;               // N
  std::int64_t in_size, out_size;    // of the axis
  std::int64_t in_parts, out_parts;  // 1 or 2
  std::int64_t inner;                // elements between neighbours of the axis

  /// Number i of the signals: where it starts in a tensor with this size of the axis and these parts.
  std::int64_t start(std::int64_t i, std::int64_t size, std::int64_t parts) const {
    return (i / inner * size * inner + i % inner) * parts;
  }
};

template <typename T, typename Real>
void read_signal(const Transform& t, const T* from, std::complex<Real>* x) {
  const std::int64_t needed = t.inverse && t.onesided ? t.length / 2 + 1 : t.length;
  const std::int64_t count = std::min(t.in_size, needed);
  std::fill(x, x + t.length, std::complex<Real>());
  for (std::int64_t n = 0; n < count; ++n) {
    const T* value = from + n * t.inner * t.in_parts;
    x[n] = {static_cast<Real>(value[0]), t.in_parts == 2 ? static_cast<Real>(value[1]) : Real(0)};
  }
  if (t.inverse && t.onesided) make_symmetric(x, t.length);
}

template <typename T, typename Real>
void write_signal(const Transform& t, std::complex<Real>* x, T* to) {
  if (t.in_parts == 1) make_symmetric(x, t.length);
  const Real scale = t.inverse ? static_cast<Real>(t.length) : Real(1);
  for (std::int64_t k = 0; k < t.out_size; ++k) {
    T* value = to + k * t.inner * t.out_parts;
    value[0] = static_cast<T>(x[k].real() / scale);
    if (t.out_parts == 2) value[1] = static_cast<T>(x[k].imag() / scale);
  }
}

template <typename T, typename Real>
void transform_all(const Transform& t, const Fft<Real>& fft, const Tensor& input, Tensor& output) {
  const T* from = input.data<T>();
  T* to = output.mutable_data<T>();
  fft.transform_all(
      output.size() / (t.out_size * t.out_parts), t.inverse,
      [&](std::int64_t i, std::complex<Real>* x) {
        read_signal(t, from + t.start(i, t.in_size, t.in_parts), x);
      },
      [&](std::int64_t i, std::complex<Real>* x) {
        write_signal(t, x, to + t.start(i, t.out_size, t.out_parts));
      });
}

struct Attributes {
  bool inverse;
  bool onesided;
};

std::int64_t signal_axis(std::int64_t axis, std::int64_t rank) {
  const std::int64_t counted = axis < 0 ? axis + rank : axis;
  if (counted < 0 || counted >= rank - 1) refuse();
  return counted;
}

void run_dft(RunContext& run, Attributes attributes, std::int64_t stated_axis) {
  const Tensor& input = run.tensor(0);
  const auto rank = static_cast<std::int64_t>(input.rank());
  const std::int64_t parts = rank < 2 ? 0 : input.dim(input.rank() - 1);
  if (parts != 1 && parts != 2) refuse();
  if (attributes.onesided && parts != (attributes.inverse ? 2 : 1)) refuse();
  const auto axis = static_cast<std::size_t>(signal_axis(stated_axis, rank));
  const bool real_output = attributes.onesided && attributes.inverse;
  Transform t{.inverse = attributes.inverse,
              .onesided = attributes.onesided,
              .length = input.dim(axis),
              .in_size = input.dim(axis),
              .out_size = 0,
              .in_parts = parts,
              .out_parts = real_output ? 1 : 2,
              .inner = input.shape().count(axis + 1, input.rank() - 1)};
  if (real_output) t.length = t.in_size > 0 ? checked_mul(2, t.in_size - 1) : -1;
  if (const Tensor* length = run.optional_tensor(1)) {
    if (length->rank() != 0) refuse();
    t.length = integer_scalar(*length);
  }
  if (t.length < 0) refuse();
  t.out_size = t.onesided && !t.inverse ? t.length / 2 + 1 : t.length;

  Shape shape = input.shape();
  shape[axis] = t.out_size;
  shape[input.rank() - 1] = t.out_parts;
  if (t.length == 0) return run.set_output(0, Tensor::zeros(input.dtype(), shape));  // sums without terms
  Tensor& output = run.output(0, input.dtype(), shape);
  if (output.size() == 0) return;
  dispatch(Floats{}, input.dtype(), [&]<typename T>() {
    with_fft<T>(t.length, [&](const auto& fft) { transform_all<T>(t, fft, input, output); });
  });
}

Attributes read_attributes(PrepareContext& node) {
  return {node.flag_attribute("inverse", false), node.flag_attribute("onesided", false)};
}

RunFunction prepare_dft_17(PrepareContext& node) {
  const Attributes attributes = read_attributes(node);
  const std::int64_t axis = node.int_attribute("axis", 1);
  return [=](RunContext& run) { run_dft(run, attributes, axis); };
}

RunFunction prepare_dft_20(PrepareContext& node) {
  const Attributes attributes = read_attributes(node);
  return [=](RunContext& run) {
    const Tensor* axis = run.optional_tensor(2);
    if (axis != nullptr && axis->rank() != 0) refuse();
    run_dft(run, attributes, axis != nullptr ? integer_scalar(*axis) : -2);
  };
}

}  // namespace

std::vector<OpRow> op_rows_dft() {
  return {{"", "DFT", {17}, prepare_dft_17}, {"", "DFT", {20}, prepare_dft_20}};
}

}  // namespace grurun::engine
