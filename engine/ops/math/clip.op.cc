// Clip: output = Min(max, Max(input, min)); a bound that is not given does not bind, NaN stays NaN, and with
// min above max the result is max. The bounds are attributes before version 11, scalar inputs of the input's
// type from then on, or one element with an axis (opset/pages/forms.h).
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "engine/graph/refusal.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/elementwise.h"

namespace grurun::engine {

namespace {

// Bounds of the type that elements are computed in.
template <typename T>
struct Clip {
  static constexpr bool takes_halves = true;
  T low, high;
  template <typename E>
  void run(const E* x, E* y, std::int64_t n) const {
    if constexpr (kernels::Arithmetic<E>) {
      kernels::vec_clip(x, low, high, y, n);
    } else {
      for (std::int64_t i = 0; i < n; ++i) y[i] = std::min(std::max(x[i], low), high);
    }
  }
};

template <typename T>
Clip<T> bounds(const Tensor* low, const Tensor* high) {
  constexpr bool real = std::numeric_limits<T>::has_infinity;
  Clip<T> op{real ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest(),
             real ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max()};
  if (low != nullptr) op.low = *low->data<T>();
  if (high != nullptr) op.high = *high->data<T>();
  return op;
}

template <typename T>
constexpr UnaryTable clip_table() {
  if constexpr (std::is_same_v<T, float>)
    return make_unary_table<Clip<T>>(TypeList<float, Float16, BFloat16>{});
  return make_unary_table<Clip<T>>(TypeList<T>{});
}

void apply_clip(RunContext& run, DType dtype, const Tensor* low, const Tensor* high) {
  const bool half = dtype == DType::float16 || dtype == DType::bfloat16;
  Tensor wide_low;
  Tensor wide_high;
  const auto widened = [&](const Tensor* bound, Tensor& wide) -> const Tensor* {
    if (bound == nullptr) return nullptr;
    if (bound->size() != 1 || bound->rank() > 1 || bound->dtype() != dtype) refuse();
    wide = half ? cast_tensor(*bound, DType::float32) : *bound;
    return &wide;
  };
  low = widened(low, wide_low);
  high = widened(high, wide_high);
  using Bounds = Join<TypeList<float, double>, Integers>;
  dispatch(Bounds{}, half ? DType::float32 : dtype, [&]<typename T>() {
    static constexpr UnaryTable table = clip_table<T>();
    const Clip<T> op = bounds<T>(low, high);
    apply_unary(run, table, &op);
  });
}

RunFunction prepare_attributes(PrepareContext& node) {
  // Clip-6 states defaults as numbers, Clip-1 only in words.
  std::optional<float> min = node.optional_float("min");
  std::optional<float> max = node.optional_float("max");
  if (node.since_version() == 6) {
    min = min.value_or(std::numeric_limits<float>::lowest());
    max = max.value_or(std::numeric_limits<float>::max());
  }
  return [min, max](RunContext& run) {
    const DType dtype = run.tensor(0).dtype();
    const auto bound = [&](const std::optional<float>& value) {
      return value ? cast_tensor(Tensor::scalar(*value), dtype) : Tensor();
    };
    const Tensor low = bound(min);
    const Tensor high = bound(max);
    apply_clip(run, dtype, min ? &low : nullptr, max ? &high : nullptr);
  };
}

// Bounds that are known beforehand, for floats of 32 and 16 bits: a step that can become part of another.
std::optional<UnaryStep> step_of_constants(PrepareContext& node) {
  Tensor wide[2];
  DType dtype = DType::undefined;
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!node.has_input(i)) continue;
    const Tensor* bound = node.constant_input(i);
    if (bound == nullptr || bound->rank() != 0 || (dtype != DType::undefined && bound->dtype() != dtype))
      return {};
    dtype = bound->dtype();
    if (dtype != DType::float32 && dtype != DType::float16 && dtype != DType::bfloat16) return {};
    wide[i - 1] = cast_tensor(*bound, DType::float32);
  }
  if (dtype == DType::undefined) return {};
  static constexpr UnaryTable table = clip_table<float>();
  return UnaryStep{&table, OperationState(bounds<float>(wide[0].defined() ? &wide[0] : nullptr,
                                                        wide[1].defined() ? &wide[1] : nullptr))};
}

RunFunction prepare_inputs(PrepareContext& node) {
  if (const std::optional<UnaryStep> step = step_of_constants(node)) return chain_part(*step);
  return [](RunContext& run) {
    const DType dtype = run.tensor(0).dtype();
    apply_clip(run, dtype, run.optional_tensor(1), run.optional_tensor(2));
  };
}

}  // namespace

std::vector<OpRow> op_rows_clip() {
  return {{"", "Clip", {1, 6}, prepare_attributes}, {"", "Clip", {11, 12, 13}, prepare_inputs}};
}

}  // namespace grurun::engine
