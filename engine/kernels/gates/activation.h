// The functions that gates of recurrent cells go through.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/kernels/vec/vec_math_scalar.h"

namespace grurun::kernels {

/// In the order in which the text of the operators lists them.
enum class ActivationKind {
  relu,
  tanh,
  sigmoid,
  affine,
  leaky_relu,
  thresholded_relu,
  scaled_tanh,
  hard_sigmoid,
  elu,
  softsign,
  softplus,
};

/// A function with its parameters, float32 as the attributes of the standard are; widened when computing in
/// double.
struct Activation {
  ActivationKind kind;
  float alpha = 0;
  float beta = 0;
};

/// No bound on what an activation sees.
inline constexpr float no_clip = std::numeric_limits<float>::infinity();

/// min(max(x, -clip), clip); NaN passes through, as it does through max and min of the standard.
template <class T>
T clipped(T x, float clip) {
  const T bound = static_cast<T>(clip);
  return x < -bound ? -bound : x > bound ? bound : x;
}

/// f(x): the definition of what the vector code computes.
template <class T>
T activate_scalar(const Activation& f, T x) {
  const auto alpha = static_cast<T>(f.alpha);
  const auto beta = static_cast<T>(f.beta);
  switch (f.kind) {
    case ActivationKind::relu:
      // max(0, x)
      return x < 0 ? T{0} : x;
    case ActivationKind::tanh:
      // (1 - e^{-2x})/(1 + e^{-2x}), which overflows when taken literally
      return std::tanh(x);
    case ActivationKind::sigmoid:
      // 1/(1 + e^{-x})
      return scalar_sigmoid(x);
    case ActivationKind::affine:
      // alpha*x + beta
      return alpha * x + beta;
    case ActivationKind::leaky_relu:
      // x if x >= 0 else alpha * x
      return x >= 0 ? x : alpha * x;
    case ActivationKind::thresholded_relu:
      // x if x >= alpha else 0
      return x >= alpha ? x : T{0};
    case ActivationKind::scaled_tanh:
      // alpha*Tanh(beta*x)
      return alpha * std::tanh(beta * x);
    case ActivationKind::hard_sigmoid: {
      // min(max(alpha*x + beta, 0), 1)
      const T y = alpha * x + beta;
      return y < 0 ? T{0} : y > 1 ? T{1} : y;
    }
    case ActivationKind::elu:
      // x if x >= 0 else alpha*(e^x - 1)
      return x >= 0 ? x : alpha * std::expm1(x);
    case ActivationKind::softsign:
      // x/(1 + |x|)
      return x / (1 + std::fabs(x));
    case ActivationKind::softplus:
      // log(1 + e^x), which overflows when taken literally
      return scalar_softplus(x);
  }
  return x;
}

}  // namespace grurun::kernels
