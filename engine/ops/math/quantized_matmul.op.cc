// MatMulInteger: Y = (A - a_zero_point) (B - b_zero_point), int32.
// QLinearMatMul: y = saturate(round(a_scale b_scale / y_scale (a - a_zero_point) (b - b_zero_point)) +
// y_zero_point), rounding ties to even. Scales and zero points are scalars or one for each row of a, [M] or
// [..., M, 1], and for each column of b, [N] or [..., 1, N]. Version 21 adds 8-bit floats, dequantized and
// multiplied as float.
#include <algorithm>
#include <memory>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/cast.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/math/integer_product.h"
#include "engine/ops/matrix_product.h"
#include "engine/ops/quantization/saturate.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_quantized_matmul();

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

Tensor requantized(const Tensor& scaled, const Tensor& zero_point) {
  if (zero_point.size() != 1) fail_invalid("y_zero_point must be a scalar");
  const double zero = *as_double(zero_point).data<double>();
  const DType dtype = zero_point.dtype();
  if (dtype != DType::int8 && dtype != DType::uint8) {
    return cast_tensor(zero == 0 ? scaled : combined<Sub>(scaled, Tensor::scalar(-zero)), dtype);
  }
  Tensor y(dtype, scaled.shape());
  dispatch(TypeList<std::int8_t, std::uint8_t>{}, dtype, [&]<typename T>() {
    std::ranges::transform(scaled.span<double>(), y.mutable_data<T>(), [&](double quotient) {
      return quantized_integer<T>(quotient, *zero_point.data<T>());
    });
  });
  return y;
}

// a_scale [.., M, 1] and b_scale [.., 1, N] for the rows and columns of the product.
Tensor scale_of(const Operand& a, const Operand& b) {
  const Tensor rows = aligned_parameter(a.scale, QuantizedSide::A, a.values.shape(), "a_scale");
  const Tensor columns = aligned_parameter(b.scale, QuantizedSide::B, b.values.shape(), "b_scale");
  return combined<Mul>(as_double(rows), as_double(columns));
}

bool is_byte(const Tensor& x) {
  return x.dtype() == DType::int8 || x.dtype() == DType::uint8;
}

/// (values - zero_point) * scale as float.
Tensor dequantized(const Operand& x, QuantizedSide side, const char* zero_name, const char* scale_name) {
  const Tensor zero = aligned_parameter(x.zero_point, side, x.values.shape(), zero_name);
  const Tensor scale = aligned_parameter(x.scale, side, x.values.shape(), scale_name);
  const Tensor centred = combined<Sub>(as_double(x.values), as_double(zero));
  return cast_tensor(combined<Mul>(centred, as_double(scale)), DType::float32);
}

void run_qlinear_matmul(RunContext& run) {
  const Operand a{run.tensor(0), run.tensor(1), run.tensor(2)};
  const Operand b{run.tensor(3), run.tensor(4), run.tensor(5)};
  const Tensor& y_scale = run.tensor(6);
  const Tensor& y_zero_point = run.tensor(7);
  if (y_scale.size() != 1) fail_invalid("y_scale must be a scalar");
  const Tensor divisor = as_double(y_scale.reshaped(Shape{}));
  Tensor product;
  if (is_byte(a.values) && is_byte(b.values)) {
    const Tensor sums = integer_product(a.values, &a.zero_point, integer_factor(b.values, &b.zero_point));
    product = combined<Mul>(as_double(sums), scale_of(a, b));
  } else {
    product = as_double(matrix_product(dequantized(a, QuantizedSide::A, "a_zero_point", "a_scale"),
                                       dequantized(b, QuantizedSide::B, "b_zero_point", "b_scale")));
  }
  run.set_output(0, requantized(combined<Div>(product, divisor), y_zero_point));
}

/// B and its zero point arranged once, where they are constant.
std::shared_ptr<const IntegerFactor> constant_factor(PrepareContext& node) {
  const Tensor* B = node.constant_input(1);
  const Tensor* b_zero_point = node.has_input(3) ? node.constant_input(3) : nullptr;
  // Other types are refused by the executor, which knows those of the version.
  if (B == nullptr || !is_byte(*B) || (node.has_input(3) && b_zero_point == nullptr)) return nullptr;
  return std::make_shared<const IntegerFactor>(integer_factor(*B, b_zero_point));
}

RunFunction prepare_matmul_integer(PrepareContext& node) {
  return [factor = constant_factor(node)](RunContext& run) {
    const Tensor& A = run.tensor(0);
    const Tensor* a_zero_point = run.optional_tensor(2);
    const Tensor& B = run.tensor(1);
    const Tensor* b_zero_point = run.optional_tensor(3);
    run.set_output(0, integer_product(A, a_zero_point, factor ? *factor : integer_factor(B, b_zero_point)));
  };
}

}  // namespace

std::vector<OpRow> op_rows_quantized_matmul() {
  return {{"", "MatMulInteger", {10}, prepare_matmul_integer},
          {"", "QLinearMatMul", {10, 21}, [](PrepareContext&) -> RunFunction { return run_qlinear_matmul; }}};
}

}  // namespace grurun::engine
