// Y = f(X), element by element, with attributes (floats, read once):
//   LeakyRelu:       alpha x for x < 0, else x         ThresholdedRelu: x for x > alpha, else 0
//   Elu:             alpha (e^x - 1) for x < 0, else x
//   Selu:            gamma alpha (e^x - 1) for x <= 0, else gamma x
//   Celu:            max(0, x) + min(0, alpha (e^(x/alpha) - 1))
//   HardSigmoid:     max(0, min(1, alpha x + beta))    Swish: x / (1 + e^(-alpha x))
//   Gelu:            x/2 (1 + erf(x / sqrt 2)); approximate = "tanh": x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715
//   x^3))) Shrink:          x + bias for x < -lambd, x - bias for x > lambd, else 0
// Selu-1 has other defaults than Selu-6. Shrink admits integers; lambd and bias are no integers for that.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/ops/math/float_functions.h"
#include "engine/ops/shared/elementwise.h"
#include "engine/ops/shared/wrapping.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t block = 512;

struct LeakyRelu {
  static constexpr bool takes_halves = true;
  float alpha;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_prelu(x, alpha, y, n);
  }
};
struct ThresholdedRelu {
  static constexpr bool takes_halves = true;
  float alpha;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_above(x, alpha, y, n);
  }
};
// y[i] = condition(x[i]) ? b[i] : a[i] in a loop that becomes vector code; y may be any of them.
template <typename T, typename Condition>
void choose(const T* x, const T* a, const T* b, T* y, std::int64_t n, const Condition& condition) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const T one = a[i], other = b[i];
    y[i] = condition(x[i]) ? other : one;
  }
}
struct Elu {
  float alpha;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    alignas(64) T grown[block];
    for (std::int64_t i = 0; i < n; i += block) {
      const std::int64_t m = std::min(block, n - i);
      kernels::vec_expm1(x + i, grown, m);
      kernels::vec_mul(grown, static_cast<T>(alpha), grown, m);
      choose(x + i, x + i, grown, y + i, m, [](T value) { return value < 0; });
    }
  }
};
struct Selu {
  float alpha;
  float gamma;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    alignas(64) T grown[block];
    for (std::int64_t i = 0; i < n; i += block) {
      const std::int64_t m = std::min(block, n - i);
      kernels::vec_expm1(x + i, grown, m);
      kernels::vec_mul(grown, static_cast<T>(alpha), grown, m);
      choose(x + i, x + i, grown, y + i, m, [](T value) { return !(value > 0); });
      kernels::vec_mul(y + i, static_cast<T>(gamma), y + i, m);
    }
  }
};
struct Celu {
  float alpha;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    const T a = static_cast<T>(alpha);
    alignas(64) T grown[block];
    for (std::int64_t i = 0; i < n; i += block) {
      const std::int64_t m = std::min(block, n - i);
      kernels::vec_div(x + i, a, grown, m);
      kernels::vec_expm1(grown, grown, m);
      for (std::int64_t j = 0; j < m; ++j) y[i + j] = larger(T{0}, x[i + j]) + smaller(T{0}, a * grown[j]);
    }
  }
};
struct HardSigmoid {
  static constexpr bool takes_halves = true;
  float alpha;
  float beta;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_hard_sigmoid(x, alpha, beta, y, n);
  }
};
struct Swish {
  float alpha;
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_swish(x, static_cast<T>(alpha), y, n);
  }
};
struct GeluErf {
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_gelu(x, y, n);
  }
};
struct GeluTanh {
  template <typename T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_gelu_tanh(x, y, n);
  }
};
// Integers are compared and moved as real numbers, exactly, and the fraction of the sum is cut off.
struct Shrink {
  float bias;
  float lambd;
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      const auto limit = static_cast<std::int64_t>(std::floor(lambd));
      if (std::cmp_less(x, -limit)) return moved(x, -bias);
      return std::cmp_greater(x, limit) ? moved(x, bias) : T{0};
    } else {
      const T limit = static_cast<T>(lambd);
      const T shift = static_cast<T>(bias);
      return x < -limit ? x + shift : x > limit ? x - shift : T{0};
    }
  }

 private:
  // x - by without its fraction; what T cannot hold wraps.
  template <typename T>
  static T moved(T x, float by) {
    const auto whole = static_cast<std::int64_t>(std::floor(by));
    const bool cut = static_cast<float>(whole) != by && std::cmp_greater(x, whole);
    return wrapping_sub(wrapping_sub(x, static_cast<T>(whole)), static_cast<T>(cut));
  }
};

template <typename Op>
RunFunction with_alpha(PrepareContext& node, float fallback) {
  return unary_step<Op, Floats>(Op{node.float_attribute("alpha", fallback)});
}

RunFunction prepare_leaky_relu(PrepareContext& node) {
  return with_alpha<LeakyRelu>(node, 0.01f);
}

template <typename Op>
RunFunction prepare_alpha_1(PrepareContext& node) {
  return with_alpha<Op>(node, 1.0f);
}

RunFunction prepare_selu(PrepareContext& node) {
  const bool first = node.since_version() == 1;
  const float alpha = node.float_attribute("alpha", first ? 1.6732f : 1.67326319217681884765625f);
  const float gamma = node.float_attribute("gamma", first ? 1.0507f : 1.05070102214813232421875f);
  return unary_step<Selu, Floats>(Selu{alpha, gamma});
}

RunFunction prepare_hard_sigmoid(PrepareContext& node) {
  return unary_step<HardSigmoid, Floats>(
      {node.float_attribute("alpha", 0.2f), node.float_attribute("beta", 0.5f)});
}

RunFunction prepare_gelu(PrepareContext& node) {
  if (node.string_attribute("approximate", "none") == "tanh") return unary_step<GeluTanh, Floats>(GeluTanh{});
  return unary_step<GeluErf, Floats>(GeluErf{});
}

RunFunction prepare_shrink(PrepareContext& node) {
  const Shrink op{node.float_attribute("bias", 0.0f), node.float_attribute("lambd", 0.5f)};
  constexpr float integers = 0x1p62f;
  if (!(std::fabs(op.bias) < integers && std::fabs(op.lambd) < integers)) {
    fail_unsupported("bias {} or lambd {} is not finite or too large", op.bias, op.lambd);
  }
  return unary_step<Shrink, Numbers>(op);
}

}  // namespace

std::vector<OpRow> op_rows_parametric_activation() {
  return {{"", "LeakyRelu", {1, 6, 16}, prepare_leaky_relu},
          {"", "ThresholdedRelu", {1, 10, 22}, prepare_alpha_1<ThresholdedRelu>},
          {"", "Elu", {1, 6, 22}, prepare_alpha_1<Elu>},
          {"", "Selu", {1, 6, 22}, prepare_selu},
          {"", "Celu", {12, 28}, prepare_alpha_1<Celu>},
          {"", "HardSigmoid", {1, 6, 22}, prepare_hard_sigmoid},
          {"", "Swish", {24}, prepare_alpha_1<Swish>},
          {"", "Gelu", {20}, prepare_gelu},
          {"", "Shrink", {9}, prepare_shrink}};
}

}  // namespace grurun::engine
