// Y = f(X), element by element, without attributes:
//   Relu:      max(0, x)                    Sigmoid:  1 / (1 + e^-x)
//   HardSwish: x max(0, min(1, x/6 + 0.5))  Softplus: ln(e^x + 1)
//   Mish:      x tanh(Softplus(x))          Softsign: x / (1 + |x|)
// NaN stays NaN. Relu-14 admits signed integers.
#include <cmath>
#include <vector>

#include "engine/ops/elementwise.h"
#include "engine/ops/math/float_functions.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_activation();

namespace {

struct Relu {
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? T{0} : x;
  }
};
struct Sigmoid {
  template <typename T>
  T operator()(T x) const {
    return sigmoid(x);
  }
};
struct HardSwish {
  template <typename T>
  T operator()(T x) const {
    return x * larger(T{0}, smaller(T{1}, x / T{6} + T{0.5}));
  }
};
struct Softplus {
  template <typename T>
  T operator()(T x) const {
    return softplus(x);
  }
};
struct Mish {
  template <typename T>
  T operator()(T x) const {
    return x * std::tanh(softplus(x));
  }
};
struct Softsign {
  template <typename T>
  T operator()(T x) const {
    return x / (T{1} + std::fabs(x));
  }
};

template <typename Op, typename List = Floats>
RunFunction prepare(PrepareContext& node) {
  // A promise about buffers that no runtime needs (legacy of version 1).
  node.accept_attribute("consumed_inputs");
  return unary_step<Op, List>(Op{});
}

}  // namespace

std::vector<OpRow> op_rows_activation() {
  return {{"", "Relu", {1, 6, 13, 14}, prepare<Relu, Join<Floats, SignedIntegers>>},
          {"", "Sigmoid", {1, 6, 13}, prepare<Sigmoid>},
          {"", "HardSwish", {14, 22}, prepare<HardSwish>},
          {"", "Softplus", {1, 22}, prepare<Softplus>},
          {"", "Mish", {18, 22}, prepare<Mish>},
          {"", "Softsign", {1, 22}, prepare<Softsign>}};
}

}  // namespace grurun::engine
