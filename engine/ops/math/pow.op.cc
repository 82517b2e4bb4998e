// Pow: Z = X^Y, element by element, of X's type; from Pow-12 on Y may be of another type. Pow-1 broadcasts Y
// in the limited way. A floating X takes an integer Y exactly: the sign by Y's last bit, the magnitude by the
// double next to Y. An integer X is multiplied exactly and wraps; a negative integer exponent leaves 0 but
// for X = 1 and -1, and is an error for X = 0; an exponent with a fraction is computed in long double and cut
// off.
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/elementwise.h"
#include "engine/ops/shared/wrapping.h"

namespace grurun::engine {

namespace {

template <typename T>
T integer_power(T base, std::uint64_t exponent) {
  T result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = wrapping_mul(result, base);
    base = wrapping_mul(base, base);
  }
  return result;
}

template <typename T, typename Exponent>
T integer_to_integer(T base, Exponent exponent) {
  if (exponent >= 0) return integer_power(base, static_cast<std::uint64_t>(exponent));
  if (base == 0) fail_unsupported("0 to the power of {}, which is no integer", exponent);
  if (base == 1) return 1;
  if (base == -1) return exponent % 2 == 0 ? T{1} : T{-1};
  return 0;
}

template <typename T>
T integer_to_real(T base, double exponent) {
  if (exponent == std::trunc(exponent) && std::fabs(exponent) < 0x1p63) {
    return integer_to_integer(base, static_cast<std::int64_t>(exponent));
  }
  const long double value = std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
  constexpr long double limit = -static_cast<long double>(std::numeric_limits<T>::min());
  return value > -limit && value < limit ? static_cast<T>(value) : std::numeric_limits<T>::min();
}

template <typename T, typename Exponent>
T real_to_integer(T base, Exponent exponent) {
  const double magnitude = std::pow(std::fabs(static_cast<double>(base)), static_cast<double>(exponent));
  return static_cast<T>(std::signbit(base) && exponent % 2 != 0 ? -magnitude : magnitude);
}

// Rounded in double, where the square is exact, and to float.
float cube(float base) {
  const double wide = base;
  return static_cast<float>(wide * wide * wide);
}

// X and Y of types that the standard lets differ: not a case for BinaryTable, whose operands are of one type.
template <typename T, typename Exponent>
T power(T base, Exponent exponent) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Exponent>) {
    return integer_to_integer(base, exponent);
  } else if constexpr (std::is_integral_v<T>) {
    return integer_to_real(base, static_cast<double>(exponent));
  } else if constexpr (std::is_integral_v<Exponent>) {
    return real_to_integer(base, exponent);
  } else {
    return static_cast<T>(std::pow(base, exponent));
  }
}

template <typename T, typename Exponent>
Tensor power_loop(const Tensor& X, const Tensor& Y, const Shape& shape, const Shape& y_shape) {
  Tensor Z(dtype_of<T>, shape);
  const BroadcastWalk walk(shape, {&X.shape(), &y_shape});
  const T* x = X.data<T>();
  const Exponent* y = Y.data<Exponent>();
  T* z = Z.mutable_data<T>();
  const std::int64_t x_step = walk.steps(0) ? 1 : 0;
  const std::int64_t y_step = walk.steps(1) ? 1 : 0;
  walk.parallel(2048, [&](std::int64_t begin, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
    const T* base = x + offsets[0];
    const Exponent* exponent = y + offsets[1];
    if constexpr (std::is_integral_v<T>) {
      if (y_step == 0 && (*exponent == Exponent{2} || *exponent == Exponent{3})) {
        const bool cubes = *exponent == Exponent{3};
        for (std::int64_t i = 0; i < n; ++i) {
          const T each = base[i * x_step], square = wrapping_mul(each, each);
          z[begin + i] = cubes ? wrapping_mul(square, each) : square;
        }
        return;
      }
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (y_step == 0 && *exponent == Exponent{2}) {
        for (std::int64_t i = 0; i < n; ++i) z[begin + i] = base[i * x_step] * base[i * x_step];
        return;
      }
      if (std::is_same_v<T, float> && y_step == 0 && *exponent == Exponent{3}) {
        for (std::int64_t i = 0; i < n; ++i) z[begin + i] = cube(static_cast<float>(base[i * x_step]));
        return;
      }
    }
    for (std::int64_t i = 0; i < n; ++i) z[begin + i] = power(base[i * x_step], exponent[i * y_step]);
  });
  return Z;
}

// The few types that exponents are held in: all values of the others fit.
DType exponent_type(DType dtype, DType base) {
  if (dtype == DType::uint64) return dtype;
  if (!is_floating(dtype)) return DType::int64;
  return dtype == DType::float64 || base != DType::float32 ? DType::float64 : DType::float32;
}

void run_pow(RunContext& run, const std::optional<LimitedBroadcast>& limits) {
  const Tensor& X = run.tensor(0);
  const Tensor& Y = run.tensor(1);
  const Shape y_shape =
      limits ? limited_broadcast(X.shape(), Y.shape(), limits->broadcast, limits->axis) : Y.shape();
  const Shape shape = broadcast_shape(X.shape(), y_shape);
  const bool half = X.dtype() == DType::float16 || X.dtype() == DType::bfloat16;
  const Tensor base = half ? cast_tensor(X, DType::float32) : X;
  const Tensor exponent = cast_tensor(Y, exponent_type(Y.dtype(), base.dtype()));
  using Bases = TypeList<float, double, std::int32_t, std::int64_t>;
  using Exponents = TypeList<float, double, std::int64_t, std::uint64_t>;
  const Tensor Z = dispatch(Bases{}, base.dtype(), [&]<typename T>() {
    return dispatch(Exponents{}, exponent.dtype(), [&]<typename Exponent>() {
      return power_loop<T, Exponent>(base, exponent, shape, y_shape);
    });
  });
  run.set_output(0, cast_tensor(Z, X.dtype()));
}

RunFunction prepare_pow(PrepareContext& node) {
  std::optional<LimitedBroadcast> limits;
  if (node.since_version() < 7) limits = read_limited_broadcast(node);
  return [limits](RunContext& run) { run_pow(run, limits); };
}

}  // namespace

std::vector<OpRow> op_rows_pow() {
  return {{"", "Pow", {1, 7, 12, 13, 15}, prepare_pow}};
}

}  // namespace grurun::engine
