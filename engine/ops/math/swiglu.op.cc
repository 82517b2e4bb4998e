// SwiGLU (ai.onnx 28): Y = A * sigmoid(alpha * A) * B, all of one shape. 16-bit floats are computed in float.
#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/kernels/vec/vec_math.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t elements_at_once = 512;

// y = a * sigmoid(alpha * a) * b for n <= elements_at_once elements.
template <typename C>
void gate(const C* a, C alpha, const C* b, C* y, std::int64_t n) {
  C swish[elements_at_once];
  kernels::vec_mul(a, alpha, swish, n);
  kernels::vec_sigmoid(swish, swish, n);
  kernels::vec_mul(swish, a, swish, n);
  kernels::vec_mul(swish, b, y, n);
}

template <typename T>
void gate_all(const T* a, float alpha, const T* b, T* y, std::int64_t size) {
  using C = ComputeType<T>;
  kernels::parallel_for(size, 8192, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += elements_at_once) {
      const std::int64_t n = std::min(elements_at_once, end - i);
      if constexpr (std::is_same_v<T, C>) {
        gate<C>(a + i, static_cast<C>(alpha), b + i, y + i, n);
      } else {
        float wide_a[elements_at_once], wide_b[elements_at_once];
        kernels::vec_convert(a + i, wide_a, n);
        kernels::vec_convert(b + i, wide_b, n);
        gate<float>(wide_a, alpha, wide_b, wide_a, n);
        kernels::vec_convert(wide_a, y + i, n);
      }
    }
  });
}

RunFunction prepare_swiglu(PrepareContext& node) {
  const float alpha = node.float_attribute("alpha", 1.0f);
  return [alpha](RunContext& run) {
    const Tensor& a = run.tensor(0);
    const Tensor& b = run.tensor(1);
    if (!(a.shape() == b.shape())) refuse();
    Tensor& y = run.output(0, a.dtype(), a.shape());
    dispatch(Floats{}, a.dtype(),
             [&]<typename T>() { gate_all(a.data<T>(), alpha, b.data<T>(), y.mutable_data<T>(), a.size()); });
  };
}

}  // namespace

std::vector<OpRow> op_rows_swiglu() {
  return {{"", "SwiGLU", {28}, prepare_swiglu}};
}

}  // namespace grurun::engine
