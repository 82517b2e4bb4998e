// Range (ai.onnx 11, 27).
//
//   output[i] = start + i * delta for i in 0 .. max(ceil((limit - start) / delta), 0)
//
// start, limit and delta are scalars of one type; delta must not be 0. 16-bit floats are computed in the type
// that stash_type names, by default float; it has no effect on other types.
#include <cmath>
#include <limits>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

template <typename C>
std::int64_t count_of(C start, C limit, C delta) {
  if (delta == C(0)) refuse();
  if constexpr (std::is_floating_point_v<C>) {
    const double count =
        std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    if (std::isnan(count) || count == std::numeric_limits<double>::infinity()) refuse();
    if (count > 9e18)
      fail(ErrorKind::limit, "the range from {} to {} by {} has {} elements", start, limit, delta, count);
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

/// Elements of type T, each step of the way rounded to Stash.
template <typename T, typename Stash = ComputeType<T>>
Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  using C = ComputeType<Stash>;
  const auto rounded = [](C value) { return static_cast<C>(static_cast<Stash>(value)); };
  const auto scalar = [&](const Tensor& tensor) {
    if (tensor.size() != 1 || tensor.rank() > 1) refuse();
    return rounded(static_cast<C>(static_cast<ComputeType<T>>(*tensor.data<T>())));
  };
  const C first = scalar(start);
  const C step = scalar(delta);
  Tensor out(dtype_of<T>, Shape{count_of<C>(first, scalar(limit), step)});
  T* to = out.mutable_data<T>();
  const std::int64_t n = out.size();
  if constexpr (std::is_integral_v<T>) {
    T value = first;
    for (std::int64_t i = 0; i < n; ++i, value = wrapping_add(value, step)) to[i] = value;
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      const C way = rounded(rounded(static_cast<C>(i)) * step);
      const C value = rounded(first + way);
      to[i] = static_cast<T>(static_cast<ComputeType<T>>(value));
    }
  }
  return out;
}

template <typename T>
Tensor range_in(DType stash, const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return dispatch(Floats{}, stash, [&]<typename Stash>() { return range<T, Stash>(start, limit, delta); });
}

RunFunction prepare_range(PrepareContext& node) {
  const std::int64_t stash_type = node.since_version() >= 27 ? node.int_attribute("stash_type", 1) : 1;
  const auto stash = static_cast<DType>(stash_type);
  return [stash](RunContext& run) {
    const Tensor& start = run.tensor(0);
    const Tensor& limit = run.tensor(1);
    const Tensor& delta = run.tensor(2);
    using Exact = TypeList<float, double, std::int16_t, std::int32_t, std::int64_t>;
    const auto exact = [&]<typename T>() { return range<T>(start, limit, delta); };
    const auto stashed = [&]<typename T>() { return range_in<T>(stash, start, limit, delta); };
    const bool is_16_bit = start.dtype() == DType::float16 || start.dtype() == DType::bfloat16;
    run.set_output(0, is_16_bit ? dispatch(TypeList<Float16, BFloat16>{}, start.dtype(), stashed)
                                : dispatch(Exact{}, start.dtype(), exact));
  };
}

}  // namespace

std::vector<OpRow> op_rows_range() {
  return {{"", "Range", {11, 27}, prepare_range}};
}

}  // namespace grurun::engine
