#include "engine/ops/shared/elementwise.h"

#include <algorithm>
#include <cstddef>

#include "engine/graph/refusal.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

const std::byte* at(const void* base, std::int64_t offset, std::size_t size) {
  return static_cast<const std::byte*>(base) + static_cast<std::size_t>(offset) * size;
}
std::byte* at(void* base, std::int64_t offset, std::size_t size) {
  return static_cast<std::byte*>(base) + static_cast<std::size_t>(offset) * size;
}

bool reusable(const Tensor& tensor, DType dtype, const Shape& shape) {
  return tensor.dtype() == dtype && tensor.shape() == shape && tensor.unique();
}

Tensor reshape_b(Tensor b, Shape shape) {
  return b.shape() == shape ? std::move(b) : b.reshaped(std::move(shape));
}

void require_same_type(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) refuse();
}

// Before B is taken: who is told of a 0 looks at it.
void require_divisors(const Tensor& b, const Shape& shape) {
  if (!Integers::set.contains(b.dtype()) || shape.element_count() == 0) return;
  dispatch(Integers{}, b.dtype(), [&]<typename T>() {
    if (std::ranges::find(b.span<T>(), T{0}) != b.span<T>().end()) refuse();
  });
}

}  // namespace

void apply_unary(RunContext& run, const UnaryTable& table, const void* op) {
  Tensor x = run.take_tensor(0);
  const UnaryRun loop = table.at(x.dtype());
  const DType dtype = table.result_type(x.dtype());
  const bool in_place = reusable(x, dtype, x.shape());
  const std::size_t from_size = dtype_size(x.dtype());
  const void* input = x.raw();
  Tensor y = in_place ? std::move(x) : Tensor(dtype, x.shape());
  void* to = y.mutable_raw();
  const void* from = in_place ? to : input;
  const std::size_t to_size = dtype_size(dtype);
  kernels::parallel_for(y.size(), elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
    loop(op, at(from, begin, from_size), at(to, begin, to_size), end - begin);
  });
  run.set_output(0, std::move(y));
}

Tensor combine(const BinaryTable& table, const void* op, Tensor a, Tensor b, const Shape& shape) {
  const BinaryRun loop = table.at(a.dtype());
  const DType dtype = table.result_type(a.dtype());
  const std::size_t from_size = dtype_size(a.dtype());
  const std::size_t to_size = dtype_size(dtype);
  const BroadcastWalk walk(shape, {&a.shape(), &b.shape()});
  // A string result never arises; strings are only compared. The walk is made before a buffer changes hands.
  const void* a_raw = a.raw();
  const void* b_raw = b.raw();
  Tensor y;
  if (reusable(a, dtype, shape)) {
    y = std::move(a);
  } else if (reusable(b, dtype, shape)) {
    y = std::move(b);
  } else {
    y = Tensor(dtype, shape);
  }
  void* to = y.mutable_raw();
  const bool a_steps = walk.steps(0);
  const bool b_steps = walk.steps(1);
  walk.parallel(elements_per_piece,
                [&](std::int64_t begin, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
                  loop(op, at(a_raw, offsets[0], from_size), a_steps, at(b_raw, offsets[1], from_size),
                       b_steps, at(to, begin, to_size), n);
                });
  return y;
}

// Shapes and types are checked before the operands are taken, so that an error can still name them.

void apply_binary(RunContext& run, const BinaryTable& table, const void* op) {
  require_same_type(run.tensor(0), run.tensor(1));
  const Shape shape = broadcast_shape(run.tensor(0).shape(), run.tensor(1).shape());
  if (table.divides) require_divisors(run.tensor(1), shape);
  Tensor a = run.take_tensor(0);
  Tensor b = run.take_tensor(1);
  run.set_output(0, combine(table, op, std::move(a), std::move(b), shape));
}

void apply_binary(RunContext& run, const BinaryTable& table, const void* op, ShapeRule rule,
                  const void* attributes) {
  require_same_type(run.tensor(0), run.tensor(1));
  const Shape shape = run.tensor(0).shape();
  Shape b_shape = rule(shape, run.tensor(1).shape(), attributes);
  if (table.divides) require_divisors(run.tensor(1), shape);
  Tensor a = run.take_tensor(0);
  Tensor b = reshape_b(run.take_tensor(1), std::move(b_shape));
  run.set_output(0, combine(table, op, std::move(a), std::move(b), shape));
}

LimitedBroadcast read_limited_broadcast(PrepareContext& node) {
  return {node.int_attribute("broadcast", 0) != 0, node.optional_int("axis")};
}

Shape limited_broadcast_rule(const Shape& a, const Shape& b, const void* attributes) {
  const auto& limits = *static_cast<const LimitedBroadcast*>(attributes);
  return limited_broadcast(a, b, limits.broadcast, limits.axis);
}

}  // namespace grurun::engine
