// Derivatives of matrix products, reductions and normalised exponentials.
#include <algorithm>
#include <numeric>

#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/training/gradient_tape.h"

namespace grurun::engine {

namespace {

using Id = Tape::Id;

/// Matrices of a stack, each transposed.
Id transposed(Backward& b, Id a) {
  std::vector<std::int64_t> perm(b.shape(a).rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return b.transpose(a, perm);
}

void matmul(Backward& b) {
  // A vector is one row of A, one column of B.
  const auto as_matrices = [&](Id a, bool row) {
    Shape shape = b.shape(a);
    if (shape.rank() == 1) shape.insert(row ? 0 : 1, 1);
    return b.reshape(a, shape);
  };
  const Id A = as_matrices(b.x(0), true), B = as_matrices(b.x(1), false);
  Shape shape = b.shape(b.y());
  if (b.shape(b.x(0)).rank() == 1) shape.insert(shape.rank() - (b.shape(b.x(1)).rank() == 1 ? 0 : 1), 1);
  if (b.shape(b.x(1)).rank() == 1) shape.push_back(1);
  const Id dY = b.reshape(b.dy(), shape);
  // Stacks that were broadcast are added up while the vectors are still matrices.
  const auto give = [&](std::size_t i, Id matrices, Id gradient) {
    const Shape& to = b.shape(matrices);
    const Shape from = b.shape(gradient);
    std::vector<std::int64_t> axes;
    for (std::size_t d = 0; d + 2 < from.rank(); ++d) {
      const std::size_t leading = from.rank() - to.rank();
      if (d < leading || to[d - leading] != from[d]) axes.push_back(static_cast<std::int64_t>(d));
    }
    b.give(i, b.reshape(b.reduce_sum(gradient, axes, true), b.shape(b.x(i))));
  };
  if (b.wants(0)) give(0, A, b.op("MatMul", {dY, transposed(b, B)}));
  if (b.wants(1)) give(1, B, b.op("MatMul", {transposed(b, A), dY}));
}

void gemm(Backward& b) {
  b.require_version(7);
  const bool trans_a = b.int_attribute("transA", 0) != 0, trans_b = b.int_attribute("transB", 0) != 0;
  const auto scaled = [&](Id a, const char* factor) {
    return b.mul(a, b.number(b.float_attribute(factor, 1), a));
  };
  const Id dY = scaled(b.dy(), "alpha");
  const auto product = [&](Id left, Id right, bool transpose) {
    const Id result = b.op("MatMul", {left, right});
    return transpose ? transposed(b, result) : result;
  };
  if (b.wants(0)) b.give(0, product(dY, trans_b ? b.x(1) : transposed(b, b.x(1)), trans_a));
  if (b.wants(1)) b.give(1, product(trans_a ? b.x(0) : transposed(b, b.x(0)), dY, trans_b));
  if (b.wants(2)) b.give(2, scaled(b.dy(), "beta"));
}

/// A reduction with its result and gradient in the rank of its input.
struct Reduction {
  std::vector<std::int64_t> axes;
  std::int64_t count = 1;  // elements that one result comes from
  Id y, dy;
};

Reduction reduction(Backward& b, int axes_input_since) {
  const Shape& shape = b.shape(b.x());
  const auto rank = static_cast<std::int64_t>(shape.rank());
  Reduction out{};
  out.count = 1;
  if (b.entry().since_version < axes_input_since) {
    out.axes = b.ints_attribute("axes");
  } else if (b.has_input(1)) {
    const auto list = integer_list(b.tensor(b.x(1)));
    out.axes.assign(list.begin(), list.end());
  }
  if (out.axes.empty() && b.int_attribute("noop_with_empty_axes", 0) == 0) {
    out.axes.resize(shape.rank());
    std::iota(out.axes.begin(), out.axes.end(), 0);
  }
  const auto axes = distinct_axes(out.axes, rank);
  out.axes.assign(axes.begin(), axes.end());
  Shape kept = shape;
  for (const std::int64_t axis : out.axes) {
    out.count *= shape[static_cast<std::size_t>(axis)];
    kept[static_cast<std::size_t>(axis)] = 1;
  }
  out.y = b.reshape(b.y(), kept);
  out.dy = b.reshape(b.dy(), kept);
  return out;
}

/// dx = factor(b, reduction) in a shape that broadcasts to x's.
template <typename Factor>
GradientRule reduces(int axes_input_since, Factor factor) {
  return [=](Backward& b) {
    const Reduction r = reduction(b, axes_input_since);
    b.give(0, b.expand(factor(b, r), b.shape(b.x())));
  };
}

void add_reductions(GradientRules& rules) {
  rules["ReduceSum"] = reduces(13, [](Backward&, const Reduction& r) { return r.dy; });
  rules["ReduceMean"] = reduces(18, [](Backward& b, const Reduction& r) {
    return b.div(r.dy, b.number(static_cast<double>(r.count), r.dy));
  });
  rules["ReduceSumSquare"] =
      reduces(18, [](Backward& b, const Reduction& r) { return b.mul(r.dy, b.add(b.x(), b.x())); });
  rules["ReduceL1"] =
      reduces(18, [](Backward& b, const Reduction& r) { return b.mul(r.dy, b.op("Sign", {b.x()})); });
  rules["ReduceL2"] =
      reduces(18, [](Backward& b, const Reduction& r) { return b.mul(r.dy, b.div(b.x(), r.y)); });
  rules["ReduceLogSum"] =
      reduces(18, [](Backward& b, const Reduction& r) { return b.div(r.dy, b.op("Exp", {r.y})); });
  rules["ReduceLogSumExp"] = reduces(
      18, [](Backward& b, const Reduction& r) { return b.mul(r.dy, b.op("Exp", {b.sub(b.x(), r.y)})); });
  // What equals the extreme shares the gradient evenly.
  rules["ReduceMax"] = rules["ReduceMin"] = reduces(18, [](Backward& b, const Reduction& r) {
    const Id chosen = b.op("CastLike", {b.op("Equal", {b.x(), r.y}), r.dy});
    return b.mul(chosen, b.div(r.dy, b.reduce_sum(chosen, r.axes, true)));
  });
}

/// body(dy, y, axes) for the sets of Softmax and LogSoftmax, which before version 13 are rows of a matrix.
template <typename Body>
GradientRule over_sets(Body body) {
  return [body](Backward& b) {
    const Shape& shape = b.shape(b.x());
    const bool coerced = b.entry().since_version < 13;
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const std::int64_t axis = normalized_axis(b.int_attribute("axis", coerced ? 1 : -1), rank);
    std::vector<std::int64_t> axes = {axis};
    for (std::int64_t more = axis + 1; coerced && more < rank; ++more) axes.push_back(more);
    b.give(0, body(b, axes));
  };
}

/// Softmax's y, but 0 in sets of NaN that nothing takes: such a one is a query of Attention that has no key
/// left, as the function body puts zeros in its place.
Id without_idle_sets(Backward& b, const std::vector<std::int64_t>& axes) {
  const Id taken = b.reduce_sum(b.op("Abs", {b.dy()}), axes, true);
  const Id idle = b.op("And", {b.op("IsNaN", {b.y()}), b.op("Equal", {taken, b.number(0, taken)})});
  return b.where(idle, b.number(0, b.y()), b.y());
}

void add_softmax(GradientRules& rules) {
  rules["Softmax"] = over_sets([](Backward& b, const std::vector<std::int64_t>& axes) {
    const Id y = without_idle_sets(b, axes), product = b.mul(b.dy(), y);
    return b.sub(product, b.mul(y, b.reduce_sum(product, axes, true)));
  });
  rules["LogSoftmax"] = over_sets([](Backward& b, const std::vector<std::int64_t>& axes) {
    return b.sub(b.dy(), b.mul(b.op("Exp", {b.y()}), b.reduce_sum(b.dy(), axes, true)));
  });
}

}  // namespace

void add_matrix_rules(GradientRules& rules) {
  rules["MatMul"] = matmul;
  rules["Gemm"] = gemm;
  add_reductions(rules);
  add_softmax(rules);
}

}  // namespace grurun::engine
