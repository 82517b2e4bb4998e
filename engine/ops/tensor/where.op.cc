// Where: output = condition ? X : Y, element by element, the three broadcast to each other.
#include <cstddef>
#include <type_traits>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/vec/vec_select.h"
#include "engine/ops/shared/broadcast.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

template <typename T>
void select(const bool* condition, bool condition_steps, const T* x, bool x_steps, const T* y, bool y_steps,
            T* out, std::int64_t n) {
  if (!condition_steps) {
    const T* from = *condition ? x : y;
    if (*condition ? x_steps : y_steps) {
      std::copy_n(from, n, out);
    } else {
      std::fill_n(out, n, *from);
    }
  } else if constexpr (std::is_unsigned_v<T>) {
    kernels::vec_select(condition, x, x_steps, y, y_steps, out, n);
  } else {
    const std::int64_t x_step = x_steps ? 1 : 0;
    const std::int64_t y_step = y_steps ? 1 : 0;
    for (std::int64_t i = 0; i < n; ++i) out[i] = condition[i] ? x[i * x_step] : y[i * y_step];
  }
}

void run_where(RunContext& run) {
  const Tensor& condition = run.tensor(0);
  const Tensor& X = run.tensor(1);
  const Tensor& Y = run.tensor(2);
  const Shape shape = broadcast_shape(broadcast_shape(condition.shape(), X.shape()), Y.shape());
  Tensor& output = run.output(0, X.dtype(), shape);
  const BroadcastWalk walk(shape, {&condition.shape(), &X.shape(), &Y.shape()});
  const bool* chosen = condition.data<bool>();
  dispatch_width(X.dtype(), [&]<typename T>() {
    const T* x = static_cast<const T*>(X.raw());
    const T* y = static_cast<const T*>(Y.raw());
    T* out = static_cast<T*>(output.mutable_raw());
    walk.parallel(elements_per_piece,
                  [&](std::int64_t begin, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
                    select(chosen + offsets[0], walk.steps(0), x + offsets[1], walk.steps(1), y + offsets[2],
                           walk.steps(2), out + begin, n);
                  });
  });
}

}  // namespace

std::vector<OpRow> op_rows_where() {
  return {{"", "Where", {9, 16}, [](PrepareContext&) -> RunFunction { return run_where; }}};
}

}  // namespace grurun::engine
