#include "trial/diagnosis/layer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/kernels/gates/activation.h"

namespace grurun::trial::diagnosis {
namespace {

// The diagnosis has functions of its own, so that it is a second opinion; what they mean is the same, for NaN
// and infinities, too.
TEST(Layer, FunctionsMeanWhatThoseOfTheEngineMean) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (int kind = 0; kind <= static_cast<int>(ActivationKind::softplus); ++kind) {
    const Activation f{static_cast<ActivationKind>(kind), 0.25F, 0.5F};
    for (const double x :
         {-inf, -800.0, -30.0, -1.5, -0.25, -0.0, 0.0, 0.2, 0.25, 0.3, 4.0, 30.0, 800.0, inf, nan}) {
      const double got = apply_function(f, x), wanted = kernels::activate_scalar(f, x);
      const bool same = std::isnan(wanted)
                            ? std::isnan(got)
                            : got == wanted || std::abs(got - wanted) <= 1e-15 * std::abs(wanted);
      EXPECT_TRUE(same) << "function " << kind << " of " << x << ": " << got << ", not " << wanted;
    }
  }
}

}  // namespace
}  // namespace grurun::trial::diagnosis
