// Range (ai.onnx 11, 27).
//
//   output[i] = start + i * delta for i in 0 .. max(ceil((limit - start) / delta), 0)
//
// start, limit and delta are scalars of one type; delta must not be 0. 16-bit floats are computed in float,
// which is what stash_type 1, the only value handled, says.
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine {

namespace {

template <typename C>
std::int64_t count_of(C start, C limit, C delta) {
  if (delta == C(0)) fail_invalid("delta must not be 0");
  if constexpr (std::is_floating_point_v<C>) {
    const double count =
        std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    if (std::isnan(count) || count > 9e18)
      fail_invalid("the range from {} to {} by {} has no end", start, limit, delta);
    return count <= 0 ? 0 : static_cast<std::int64_t>(count);
  } else {
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    // In unsigned arithmetic, since the distance between two int64 may not be one.
    using U = std::uint64_t;
    const U distance = delta > 0 ? static_cast<U>(limit) - static_cast<U>(start)
                                 : static_cast<U>(start) - static_cast<U>(limit);
    const U step = delta > 0 ? static_cast<U>(delta) : U{0} - static_cast<U>(delta);
    const U count = (distance - 1) / step + 1;
    if (count > static_cast<U>(INT64_MAX)) fail(ErrorKind::limit, "a range of {} elements", count);
    return static_cast<std::int64_t>(count);
  }
}

template <typename T>
Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  using C = ComputeType<T>;
  const auto scalar = [](const Tensor& tensor, const char* what) {
    if (tensor.size() != 1)
      fail_invalid("{} must be a scalar, but has shape {}", what, tensor.shape().to_string());
    return static_cast<C>(*tensor.data<T>());
  };
  const C first = scalar(start, "start");
  const C step = scalar(delta, "delta");
  Tensor out(dtype_of<T>, Shape{count_of<C>(first, scalar(limit, "limit"), step)});
  T* to = out.mutable_data<T>();
  for (std::int64_t i = 0; i < out.size(); ++i)
    to[i] = static_cast<T>(static_cast<C>(first + static_cast<C>(i) * step));
  return out;
}

RunFunction prepare(PrepareContext& node) {
  const std::int64_t stash = node.since_version() >= 27 ? node.int_attribute("stash_type", 1) : 1;
  return [stash](RunContext& run) {
    const Tensor& start = run.tensor(0);
    const Tensor& limit = run.tensor(1);
    const Tensor& delta = run.tensor(2);
    const bool is_16_bit = start.dtype() == DType::float16 || start.dtype() == DType::bfloat16;
    if (is_16_bit && stash != 1) fail_unsupported("Range with stash_type {}", stash);
    run.set_output(0, dispatch(Join<Floats, TypeList<std::int16_t, std::int32_t, std::int64_t>>{},
                               start.dtype(), [&]<typename T>() { return range<T>(start, limit, delta); }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_range() {
  return {{"", "Range", {11, 27}, prepare}};
}

}  // namespace grurun::engine
