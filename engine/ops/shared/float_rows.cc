#include "engine/ops/shared/float_rows.h"

#include <algorithm>

#include "engine/kernels/vec/vec_cast.h"
#include "engine/kernels/vec/vec_convert.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

template <typename A, typename B>
void convert(const A* x, B* y, std::int64_t n) {
  if constexpr (std::is_same_v<A, B>) {
    std::copy_n(x, n, y);
  } else if constexpr (requires { kernels::vec_convert(x, y, n); }) {
    kernels::vec_convert(x, y, n);
  } else if constexpr (sizeof(A) == 2 && sizeof(B) == 2) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = B(static_cast<float>(x[i]));
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<B>(x[i]);
  }
}

template <typename C, typename Half>
void round_through(C* x, std::int64_t n) {
  constexpr std::int64_t block = 512;
  alignas(64) Half rounded[block];
  for (std::int64_t i = 0; i < n; i += block) {
    const std::int64_t m = std::min(block, n - i);
    convert(x + i, rounded, m);
    convert(rounded, x + i, m);
  }
}

template <typename C>
void round_to(DType dtype, C* x, std::int64_t n) {
  if (dtype == DType::float16) round_through<C, Float16>(x, n);
  if (dtype == DType::bfloat16) round_through<C, BFloat16>(x, n);
}

}  // namespace

void convert_floats(DType from, const void* x, DType to, void* y, std::int64_t n) {
  dispatch(Floats{}, from, [&]<typename A>() {
    dispatch(Floats{}, to, [&]<typename B>() { convert(static_cast<const A*>(x), static_cast<B*>(y), n); });
  });
}

void round_floats(DType dtype, float* x, std::int64_t n) {
  round_to(dtype, x, n);
}

void round_floats(DType dtype, double* x, std::int64_t n) {
  round_to(dtype, x, n);
}

}  // namespace grurun::engine
