// MatMulInteger: Y = (A - a_zero_point) (B - b_zero_point), int32.
// QLinearMatMul: y = saturate(round(a_scale b_scale / y_scale (a - a_zero_point) (b - b_zero_point)) +
// y_zero_point), rounding ties to even. Scales and zero points are scalars or one for each row of a, [M] or
// [..., M, 1], and for each column of b, [N] or [..., 1, N]. Version 21 adds 8-bit floats, dequantized and
// multiplied as float.
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/math/integer_product.h"
#include "engine/ops/quantization/saturate.h"
#include "engine/ops/shared/broadcast.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/elementwise.h"
#include "engine/ops/shared/matrix_product.h"

namespace grurun::engine {

namespace {

struct Sub {
  double operator()(double a, double b) const { return a - b; }
};
struct Mul {
  double operator()(double a, double b) const { return a * b; }
};
struct Div {
  double operator()(double a, double b) const { return a / b; }
};

template <typename Op>
Tensor combined(const Tensor& a, const Tensor& b) {
  static constexpr BinaryTable table = make_binary_table<Op>(TypeList<double>{});
  const Op op;
  return combine(table, &op, a, b, broadcast_shape(a.shape(), b.shape()));
}

Tensor as_double(const Tensor& x) {
  return cast_tensor(x, DType::float64);
}

struct Operand {
  const Tensor& values;
  const Tensor& scale;
  const Tensor& zero_point;
};

// a_scale [.., M, 1] and b_scale [.., 1, N] for the rows and columns of the product.
Tensor scale_of(const Operand& a, const Operand& b) {
  const Tensor rows = aligned_parameter(a.scale, QuantizedSide::A, a.values.shape());
  const Tensor columns = aligned_parameter(b.scale, QuantizedSide::B, b.values.shape());
  return combined<Mul>(as_double(rows), as_double(columns));
}

bool is_byte(const Tensor& x) {
  return x.dtype() == DType::int8 || x.dtype() == DType::uint8;
}

/// (values - zero_point) * scale as float.
Tensor dequantized(const Operand& x, QuantizedSide side) {
  const Tensor zero = aligned_parameter(x.zero_point, side, x.values.shape());
  const Tensor scale = aligned_parameter(x.scale, side, x.values.shape());
  const Tensor centred = combined<Sub>(as_double(x.values), as_double(zero));
  return cast_tensor(combined<Mul>(centred, as_double(scale)), DType::float32);
}

/// round(sums * scale / y_scale) + y_zero_point within the range of its type, int8 or uint8. scale broadcasts
/// to sums; y_scale is a scalar. In double, since a factor that was rounded to float32 falls on ties where
/// the scales make none.
Tensor requantized(const Tensor& sums, const Tensor& scale, double y_scale, const Tensor& y_zero_point) {
  Tensor y(y_zero_point.dtype(), sums.shape());
  const BroadcastWalk walk(sums.shape(), {&scale.shape()});
  auto* to = static_cast<std::uint8_t*>(y.mutable_raw());
  dispatch(TypeList<std::int8_t, std::uint8_t>{}, y.dtype(), [&]<typename T>() {
    const std::int64_t step = walk.steps(0) ? 1 : 0;
    ScratchVector<float> nearest;
    if (step != 0) nearest = kernels::nearest_factors(scale.span<double>(), y_scale);
    const kernels::Requantization by{.factors = scale.data<double>(),
                                     .step = step,
                                     .scale = y_scale,
                                     .zero_point = *y_zero_point.data<T>(),
                                     .least = std::numeric_limits<T>::min(),
                                     .nearest = nearest.empty() ? nullptr : nearest.data()};
    kernels::parallel_for(walk.size(), 1 << 14, [&](std::int64_t begin, std::int64_t end) {
      walk.for_each(begin, end,
                    [&](std::int64_t first, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
                      kernels::Requantization here = by;
                      here.factors += offsets[0];
                      if (here.nearest != nullptr) here.nearest += offsets[0];
                      kernels::vec_requantize(sums.data<std::int32_t>() + first, here, to + first, n);
                    });
    });
  });
  return y;
}

/// The same of float products, for zero points of any type.
Tensor requantized_floats(const Tensor& products, double y_scale, const Tensor& y_zero_point) {
  const Tensor scaled = combined<Div>(as_double(products), Tensor::scalar(y_scale));
  const DType dtype = y_zero_point.dtype();
  if (!is_byte(y_zero_point)) {
    const double zero = *as_double(y_zero_point).data<double>();
    return cast_tensor(zero == 0 ? scaled : combined<Sub>(scaled, Tensor::scalar(-zero)), dtype);
  }
  Tensor y(dtype, scaled.shape());
  dispatch(TypeList<std::int8_t, std::uint8_t>{}, dtype, [&]<typename T>() {
    std::ranges::transform(scaled.span<double>(), y.mutable_data<T>(), [&](double quotient) {
      return quantized_integer<T>(quotient, *y_zero_point.data<T>());
    });
  });
  return y;
}

using SharedFactor = std::shared_ptr<const IntegerFactor>;

/// Input `index`, B, and its zero point arranged once, where they are constant.
SharedFactor constant_factor(PrepareContext& node, std::size_t index) {
  const Tensor* B = node.constant_input(index);
  const bool has_zero_point = node.has_input(index + 2);
  const Tensor* b_zero_point = has_zero_point ? node.constant_input(index + 2) : nullptr;
  // Other types are refused by the executor, which knows those of the version.
  if (B == nullptr || !is_byte(*B) || (has_zero_point && b_zero_point == nullptr)) return nullptr;
  return node.arrangements().get<IntegerFactor>({B, b_zero_point}, {}, [&] {
    return std::make_shared<IntegerFactor>(integer_factor(*B, b_zero_point));
  });
}

/// By what was arranged, or else by B as it comes.
Tensor product_of(const Tensor& A, const Tensor* a_zero_point, const Tensor& B, const Tensor* b_zero_point,
                  const SharedFactor& factor) {
  if (factor) return integer_product(A, a_zero_point, *factor);
  return integer_product(A, a_zero_point, integer_factor(B, b_zero_point));
}

RunFunction prepare_matmul_integer(PrepareContext& node) {
  return [factor = constant_factor(node, 1)](RunContext& run) {
    run.set_output(
        0, product_of(run.tensor(0), run.optional_tensor(2), run.tensor(1), run.optional_tensor(3), factor));
  };
}

void run_qlinear_matmul(RunContext& run, const SharedFactor& factor) {
  const Operand a{run.tensor(0), run.tensor(1), run.tensor(2)};
  const Operand b{run.tensor(3), run.tensor(4), run.tensor(5)};
  const Tensor &y_scale = run.tensor(6), &y_zero_point = run.tensor(7);
  if (y_scale.size() != 1 || y_scale.rank() > 1) refuse();
  if (y_zero_point.size() != 1 || y_zero_point.rank() > 1) refuse();
  const double divisor = *as_double(y_scale).data<double>();
  if (is_byte(a.values) && is_byte(b.values)) {
    const Tensor sums = product_of(a.values, &a.zero_point, b.values, &b.zero_point, factor);
    run.set_output(0, requantized(sums, scale_of(a, b), divisor, y_zero_point));
  } else {
    const Tensor product = matrix_product(dequantized(a, QuantizedSide::A), dequantized(b, QuantizedSide::B));
    run.set_output(0, requantized_floats(product, divisor, y_zero_point));
  }
}

RunFunction prepare_qlinear_matmul(PrepareContext& node) {
  return [factor = constant_factor(node, 3)](RunContext& run) { run_qlinear_matmul(run, factor); };
}

}  // namespace

std::vector<OpRow> op_rows_quantized_matmul() {
  return {{"", "MatMulInteger", {10}, prepare_matmul_integer},
          {"", "QLinearMatMul", {10, 21}, prepare_qlinear_matmul}};
}

}  // namespace grurun::engine
