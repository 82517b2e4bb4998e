// GlobalAveragePool (ai.onnx 1, 22), GlobalMaxPool (ai.onnx 1, 22), GlobalLpPool (ai.onnx 1, 2, 22).
//
// One value for each plane [D1...Dn] of X [N, C, D1...Dn], as Y [N, C, 1...1]: its mean, its maximum (NaN
// where there is one), or (sum of |x|^p)^(1/p). 16-bit floats are computed in float.
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

// plane_body(x, size): the value, in the type that elements are computed in.
template <typename PlaneBody>
RunFunction over_planes(PlaneBody plane_body) {
  return [plane_body](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.rank() < 2) refuse();
    Shape shape = x.shape();
    for (std::size_t d = 2; d < shape.rank(); ++d) shape[d] = 1;
    const std::int64_t size = x.shape().count(2, x.rank());
    if (size == 0) refuse();
    Tensor& y = run.output(0, x.dtype(), shape);
    dispatch(Floats{}, x.dtype(), [&]<typename T>() {
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      kernels::parallel_for(y.size(), 1 + 16384 / size, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(plane_body(from + i * size, size));
      });
    });
  };
}

RunFunction prepare_average(PrepareContext&) {
  return over_planes([]<typename T>(const T* x, std::int64_t size) {
    const double sum = kernels::sum_in_double(kernels::SumOf::values, x, size);
    return static_cast<ComputeType<T>>(sum / static_cast<double>(size));
  });
}

RunFunction prepare_max(PrepareContext&) {
  return over_planes([]<typename T>(const T* x, std::int64_t size) { return kernels::reduce_max(x, size); });
}

RunFunction prepare_lp(PrepareContext& node) {
  const double p = node.since_version() == 1 ? node.float_attribute("p", 2.0f)
                                             : static_cast<double>(node.int_attribute("p", 2));
  return over_planes([p]<typename T>(const T* x, std::int64_t size) {
    using C = ComputeType<T>;
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      const double value = std::fabs(static_cast<double>(x[i]));
      sum += p == 2 ? value * value : std::pow(value, p);
    }
    return static_cast<C>(p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p));
  });
}

}  // namespace

std::vector<OpRow> op_rows_global_pool() {
  return {{"", "GlobalAveragePool", {1, 22}, prepare_average},
          {"", "GlobalMaxPool", {1, 22}, prepare_max},
          {"", "GlobalLpPool", {1, 2, 22}, prepare_lp}};
}

}  // namespace grurun::engine
