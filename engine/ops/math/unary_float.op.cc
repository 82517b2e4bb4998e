// Y = f(X), element by element, over floats: Ceil, Floor, Round, Sqrt, Reciprocal, Exp, Log, the
// trigonometric and hyperbolic functions and their inverses, Erf. Round: ties to even. Erf-9 admits integers
// too: the function's value with its fraction cut off.
#include <cmath>
#include <concepts>
#include <vector>

#include "engine/kernels/vec/vec_math.h"
#include "engine/ops/math/float_functions.h"
#include "engine/ops/shared/elementwise.h"

namespace grurun::engine {

namespace {

#define GRURUN_FUNCTION(NAME, VALUE) \
  struct NAME {                      \
    template <typename T>            \
    T operator()(T x) const {        \
      return VALUE;                  \
    }                                \
  }
GRURUN_FUNCTION(Sqrt, std::sqrt(x));
GRURUN_FUNCTION(Reciprocal, T{1} / x);
#undef GRURUN_FUNCTION

#define GRURUN_ARRAY_FUNCTION(NAME, FUNCTION)          \
  struct NAME {                                        \
    template <typename T>                              \
    void run(const T* x, T* y, std::int64_t n) const { \
      kernels::FUNCTION(x, y, n);                      \
    }                                                  \
  }
GRURUN_ARRAY_FUNCTION(Exp, vec_exp);
GRURUN_ARRAY_FUNCTION(Log, vec_log);
GRURUN_ARRAY_FUNCTION(Tanh, vec_tanh);
GRURUN_ARRAY_FUNCTION(Sin, vec_sin);
GRURUN_ARRAY_FUNCTION(Cos, vec_cos);
GRURUN_ARRAY_FUNCTION(Tan, vec_tan);
GRURUN_ARRAY_FUNCTION(Asin, vec_asin);
GRURUN_ARRAY_FUNCTION(Acos, vec_acos);
GRURUN_ARRAY_FUNCTION(Atan, vec_atan);
GRURUN_ARRAY_FUNCTION(Sinh, vec_sinh);
GRURUN_ARRAY_FUNCTION(Cosh, vec_cosh);
GRURUN_ARRAY_FUNCTION(Asinh, vec_asinh);
GRURUN_ARRAY_FUNCTION(Acosh, vec_acosh);
GRURUN_ARRAY_FUNCTION(Atanh, vec_atanh);
#undef GRURUN_ARRAY_FUNCTION

#define GRURUN_ROUNDING(NAME, FUNCTION)                \
  struct NAME {                                        \
    static constexpr bool takes_halves = true;         \
    template <typename T>                              \
    void run(const T* x, T* y, std::int64_t n) const { \
      kernels::FUNCTION(x, y, n);                      \
    }                                                  \
  }
GRURUN_ROUNDING(Ceil, vec_ceil);
GRURUN_ROUNDING(Floor, vec_floor);
GRURUN_ROUNDING(Round, vec_round);
#undef GRURUN_ROUNDING

struct Erf {
  template <std::floating_point T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_erf(x, y, n);
  }
  template <std::integral T>
  T operator()(T x) const {
    return static_cast<T>(std::erf(static_cast<double>(x)));
  }
};

}  // namespace

std::vector<OpRow> op_rows_unary_float() {
  const std::vector<int> since_1{1, 6, 13};
  const std::vector<int> since_7{7, 22};
  const std::vector<int> since_9{9, 22};
  return {{"", "Ceil", since_1, prepare_unary<Ceil>},
          {"", "Floor", since_1, prepare_unary<Floor>},
          {"", "Round", {11, 22}, prepare_unary<Round>},
          {"", "Sqrt", since_1, prepare_unary<Sqrt>},
          {"", "Reciprocal", since_1, prepare_unary<Reciprocal>},
          {"", "Exp", since_1, prepare_unary<Exp>},
          {"", "Log", since_1, prepare_unary<Log>},
          {"", "Sin", since_7, prepare_unary<Sin>},
          {"", "Cos", since_7, prepare_unary<Cos>},
          {"", "Tan", since_7, prepare_unary<Tan>},
          {"", "Asin", since_7, prepare_unary<Asin>},
          {"", "Acos", since_7, prepare_unary<Acos>},
          {"", "Atan", since_7, prepare_unary<Atan>},
          {"", "Sinh", since_9, prepare_unary<Sinh>},
          {"", "Cosh", since_9, prepare_unary<Cosh>},
          {"", "Tanh", since_1, prepare_unary<Tanh>},
          {"", "Asinh", since_9, prepare_unary<Asinh>},
          {"", "Acosh", since_9, prepare_unary<Acosh>},
          {"", "Atanh", since_9, prepare_unary<Atanh>},
          {"", "Erf", {9, 13}, prepare_unary<Erf, Numbers>}};
}

}  // namespace grurun::engine
