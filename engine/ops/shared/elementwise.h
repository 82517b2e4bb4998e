// Element-wise operators: an operation on one element becomes loops over runs, by element type; tensors are
// then walked in such runs, broadcast, in place where nobody else needs the buffer, on all threads when
// large.
//
// An operation is a small struct with a call operator for the compute type: float serves Float16 and
// BFloat16, which are widened and narrowed a block at a time. A unary operation may instead have run(const T*
// x, T* y, n), for x == y too, which takes 16-bit floats as they are where takes_halves says so, and a type
// Gated of the same layout that computes x * op(x). A binary one may have run(a, b, T* y, n), where one of a
// and b may be a scalar in the compute type. Operations may throw: a piece's exception reaches the caller.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/graph/op_context.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/ops/shared/broadcast.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

/// y[i] = op(x[i]); x and y may be the same.
using UnaryRun = void (*)(const void* op, const void* x, void* y, std::int64_t n);

/// y[i] = op(a[i], b[i]), where an operand that does not step stands still; y may be an operand that steps.
using BinaryRun = void (*)(const void* op, const void* a, bool a_steps, const void* b, bool b_steps, void* y,
                           std::int64_t n);

/// The loop for each element type, and the type of the result when it is not the operands'.
template <typename Run>
struct LoopTable {
  std::array<Run, dtype_count> runs{};
  DType result = DType::undefined;
  bool is_product = false;   // y[i] = a[i] * b[i]
  bool divides = false;      // b[i] must not be 0 where it is an integer
  UnaryRun gated = nullptr;  // y[i] = x[i] * op(x[i]) of float32, with the same op, where that is one pass

  Run at(DType dtype) const {
    const Run run = runs[static_cast<std::size_t>(dtype)];
    if (run == nullptr) fail_unsupported("no kernel for element type {}", dtype_name(dtype));
    return run;
  }
  DType result_type(DType operand) const { return result == DType::undefined ? operand : result; }
};
using UnaryTable = LoopTable<UnaryRun>;
using BinaryTable = LoopTable<BinaryRun>;

/// Applies op to input 0 and sets output 0.
void apply_unary(RunContext& run, const UnaryTable& table, const void* op);

/// Applies op to inputs 0 and 1, broadcast to each other, and sets output 0.
void apply_binary(RunContext& run, const BinaryTable& table, const void* op);

/// The same with b read under another shape of as many elements, already checked against a's
/// (limited_broadcast).
using ShapeRule = Shape (*)(const Shape& a, const Shape& b, const void* attributes);
void apply_binary(RunContext& run, const BinaryTable& table, const void* op, ShapeRule rule,
                  const void* attributes);

/// op(a, b) for tensors of one element type, broadcast to `shape`, which both must broadcast to; written into
/// a's or b's buffer where it is unique and fits.
Tensor combine(const BinaryTable& table, const void* op, Tensor a, Tensor b, const Shape& shape);

namespace detail {

template <typename T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

inline constexpr std::int64_t half_block = 512;

template <typename Op, typename T>
void unary_run(const void* state, const void* x_raw, void* y_raw, std::int64_t n) {
  const Op op = *static_cast<const Op*>(state);
  const T* x = static_cast<const T*>(x_raw);
  if constexpr (requires(T * y) { op.run(x, y, n); }) {
    op.run(x, static_cast<T*>(y_raw), n);
  } else if constexpr (requires(bool* y) { op.run(x, y, n); }) {
    op.run(x, static_cast<bool*>(y_raw), n);
  } else {
    auto* y = static_cast<std::remove_cvref_t<decltype(op(*x))>*>(y_raw);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = op(x[i]);
  }
}

template <typename Op, typename Half>
void half_unary_run(const void* state, const void* x_raw, void* y_raw, std::int64_t n) {
  using Result = std::remove_cvref_t<decltype([](const Op& op) {
    if constexpr (requires(float* y) { op.run(y, y, std::int64_t{}); }) {
      return float{};
    } else {
      return op(float{});
    }
  }(std::declval<Op>()))>;
  const Half* x = static_cast<const Half*>(x_raw);
  if constexpr (requires { Op::takes_halves; }) return unary_run<Op, Half>(state, x_raw, y_raw, n);
  alignas(64) float wide[half_block];
  for (std::int64_t i = 0; i < n; i += half_block) {
    const std::int64_t m = std::min(half_block, n - i);
    kernels::vec_convert(x + i, wide, m);
    if constexpr (std::is_same_v<Result, float>) {
      unary_run<Op, float>(state, wide, wide, m);
      kernels::vec_convert(wide, static_cast<Half*>(y_raw) + i, m);
    } else {
      unary_run<Op, float>(state, wide, static_cast<Result*>(y_raw) + i, m);
    }
  }
}

/// True where it was done: op has run() for arrays of T, which makes elements of Result.
template <typename Result, typename Op, typename T>
bool run_arrays(const Op& op, const T* a, bool a_steps, const T* b, bool b_steps, void* y_raw,
                std::int64_t n) {
  using C = ComputeType<T>;
  if constexpr (requires(Result * y) { op.run(a, b, y, n); }) {
    Result* y = static_cast<Result*>(y_raw);
    if (a_steps && b_steps) {
      op.run(a, b, y, n);
    } else if (a_steps) {
      op.run(a, static_cast<C>(*b), y, n);
    } else if (b_steps) {
      op.run(static_cast<C>(*a), b, y, n);
    } else {
      op.run(a, b, y, std::int64_t{1});
      std::fill(y + 1, y + n, *y);
    }
    return true;
  }
  return false;
}

template <typename Op, typename T>
void binary_run(const void* state, const void* a_raw, bool a_steps, const void* b_raw, bool b_steps,
                void* y_raw, std::int64_t n) {
  const Op op = *static_cast<const Op*>(state);
  const T* a = static_cast<const T*>(a_raw);
  const T* b = static_cast<const T*>(b_raw);
  using Result = std::remove_cvref_t<decltype(op(*a, *b))>;
  if (run_arrays<Result>(op, a, a_steps, b, b_steps, y_raw, n)) return;
  auto* y = static_cast<Result*>(y_raw);
  if (a_steps && b_steps) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = op(a[i], b[i]);
  } else if (a_steps) {
    const T still = *b;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = op(a[i], still);
  } else if (b_steps) {
    const T still = *a;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = op(still, b[i]);
  } else {
    std::fill(y, y + n, op(*a, *b));
  }
}

template <typename Op, typename Half>
void half_binary_run(const void* state, const void* a_raw, bool a_steps, const void* b_raw, bool b_steps,
                     void* y_raw, std::int64_t n) {
  using Result = std::remove_cvref_t<decltype(std::declval<Op>()(float{}, float{}))>;
  const Half* a = static_cast<const Half*>(a_raw);
  const Half* b = static_cast<const Half*>(b_raw);
  if (run_arrays<Half>(*static_cast<const Op*>(state), a, a_steps, b, b_steps, y_raw, n)) return;
  alignas(64) float wide_a[half_block];
  alignas(64) float wide_b[half_block];
  for (std::int64_t i = 0; i < n; i += half_block) {
    const std::int64_t m = std::min(half_block, n - i);
    kernels::vec_convert(a_steps ? a + i : a, wide_a, a_steps ? m : 1);
    kernels::vec_convert(b_steps ? b + i : b, wide_b, b_steps ? m : 1);
    if constexpr (std::is_same_v<Result, float>) {
      alignas(64) float wide_y[half_block];
      binary_run<Op, float>(state, wide_a, a_steps, wide_b, b_steps, wide_y, m);
      kernels::vec_convert(wide_y, static_cast<Half*>(y_raw) + i, m);
    } else {
      binary_run<Op, float>(state, wide_a, a_steps, wide_b, b_steps, static_cast<Result*>(y_raw) + i, m);
    }
  }
}

template <typename Op, typename T>
constexpr UnaryRun unary_run_for() {
  if constexpr (is_half<T>) {
    return half_unary_run<Op, T>;
  } else {
    return unary_run<Op, T>;
  }
}

template <typename Op, typename T>
constexpr BinaryRun binary_run_for() {
  if constexpr (is_half<T>) {
    return half_binary_run<Op, T>;
  } else {
    return binary_run<Op, T>;
  }
}

}  // namespace detail

template <typename Op, typename... Types>
constexpr UnaryTable make_unary_table(TypeList<Types...>, DType result = DType::undefined) {
  UnaryTable table;
  ((table.runs[static_cast<std::size_t>(dtype_of<Types>)] = detail::unary_run_for<Op, Types>()), ...);
  table.result = result;
  if constexpr (requires { typename Op::Gated; }) table.gated = detail::unary_run<typename Op::Gated, float>;
  return table;
}

template <typename Op, typename... Types>
constexpr BinaryTable make_binary_table(TypeList<Types...>, DType result = DType::undefined) {
  BinaryTable table;
  ((table.runs[static_cast<std::size_t>(dtype_of<Types>)] = detail::binary_run_for<Op, Types>()), ...);
  table.result = result;
  if constexpr (requires { Op::is_product; }) table.is_product = Op::is_product;
  if constexpr (requires { Op::divides; }) table.divides = Op::divides;
  return table;
}

/// An operation's state, whatever its type.
struct OperationState {
  alignas(8) std::array<std::byte, 16> bytes{};

  template <typename Op>
  explicit OperationState(const Op& op) {
    static_assert(std::is_trivially_copyable_v<Op> && sizeof(Op) <= sizeof(bytes) && alignof(Op) <= 8);
    std::memcpy(bytes.data(), &op, sizeof(Op));
  }
};

/// Run steps that say what they do, so that they can become part of another. Inputs of a UnaryStep beyond the
/// first are constants that op holds.
struct UnaryStep {
  const UnaryTable* table;
  OperationState op;
  void operator()(RunContext& run) const {
    for (std::size_t i = 1; i < run.input_count(); ++i) run.accept_input(i);
    apply_unary(run, *table, op.bytes.data());
  }
};
struct BinaryStep {
  const BinaryTable* table;
  OperationState op;
  void operator()(RunContext& run) const { apply_binary(run, *table, op.bytes.data()); }
};

/// These steps, which a chain may take up (chain_step.h).
RunFunction chain_part(UnaryStep step);
RunFunction chain_part(BinaryStep step);

/// The run step of a unary operator: op over every type of List. `result` where it is not the operand's type.
template <typename Op, typename List, DType result = DType::undefined>
RunFunction unary_step(Op op) {
  static constexpr UnaryTable table = make_unary_table<Op>(List{}, result);
  return chain_part(UnaryStep{&table, OperationState(op)});
}

/// prepare of a unary operator without attributes.
template <typename Op, typename List = Floats>
RunFunction prepare_unary(PrepareContext&) {
  return unary_step<Op, List>(Op{});
}

/// Attributes of the operators that broadcast in the limited way before opset 7.
struct LimitedBroadcast {
  bool broadcast = false;
  std::optional<std::int64_t> axis;
};

/// Reads axis and broadcast.
LimitedBroadcast read_limited_broadcast(PrepareContext& node);

/// limited_broadcast as a ShapeRule; attributes is a LimitedBroadcast.
Shape limited_broadcast_rule(const Shape& a, const Shape& b, const void* attributes);

/// The run step of a binary operator over every type of List. Versions before 7 broadcast in the limited way.
template <typename Op, typename List, DType result = DType::undefined>
RunFunction binary_step(PrepareContext& node, Op op) {
  static constexpr BinaryTable table = make_binary_table<Op>(List{}, result);
  if (node.since_version() < 7) {
    return [op, limits = read_limited_broadcast(node)](RunContext& run) {
      apply_binary(run, table, &op, limited_broadcast_rule, &limits);
    };
  }
  return chain_part(BinaryStep{&table, OperationState(op)});
}

}  // namespace grurun::engine
