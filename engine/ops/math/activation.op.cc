// Y = f(X), element by element, without attributes:
//   Relu:      max(0, x)                    Sigmoid:  1 / (1 + e^-x)
//   HardSwish: x max(0, min(1, x/6 + 0.5))  Softplus: ln(e^x + 1)
//   Mish:      x tanh(Softplus(x))          Softsign: x / (1 + |x|)
// NaN stays NaN. Relu-14 admits signed integers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/ops/math/float_functions.h"
#include "engine/ops/shared/elementwise.h"

namespace grurun::engine {

namespace {

struct Relu {
  static constexpr bool takes_halves = true;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    if constexpr (kernels::Arithmetic<T>) {
      using Limits = std::numeric_limits<ComputeType<T>>;
      kernels::vec_clip(x, 0, Limits::has_infinity ? Limits::infinity() : Limits::max(), y, n);
    } else {
      for (std::int64_t i = 0; i < n; ++i) y[i] = std::max(x[i], T{0});
    }
  }
};
struct TimesSigmoid {
  void run(const float* x, float* y, std::int64_t n) const { kernels::vec_times_sigmoid(x, y, n); }
};
struct Sigmoid {
  using Gated = TimesSigmoid;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_sigmoid(x, y, n);
  }
};
struct HardSwish {
  static constexpr bool takes_halves = true;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_hard_swish(x, y, n);
  }
};
struct Softplus {
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_softplus(x, y, n);
  }
};
struct Mish {
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_mish(x, y, n);
  }
};
struct Softsign {
  template <typename T>
  T operator()(T x) const {
    return x / (T{1} + std::fabs(x));
  }
};

}  // namespace

std::vector<OpRow> op_rows_activation() {
  return {{"", "Relu", {1, 6, 13, 14}, prepare_unary<Relu, Join<Floats, SignedIntegers>>},
          {"", "Sigmoid", {1, 6, 13}, prepare_unary<Sigmoid>},
          {"", "HardSwish", {14, 22}, prepare_unary<HardSwish>},
          {"", "Softplus", {1, 22}, prepare_unary<Softplus>},
          {"", "Mish", {18, 22}, prepare_unary<Mish>},
          {"", "Softsign", {1, 22}, prepare_unary<Softsign>}};
}

}  // namespace grurun::engine
