// TopK: the k largest elements along axis (the smallest with largest = 0, version 11 on) and their indices,
// best first; of equal ones the lower index comes first. NaN counts as larger than every number, as numpy
// sorts it. k is an attribute in version 1 and an input from 10 on. With sorted = 0 any order would do: it is
// sorted all the same.
#include <algorithm>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/parallel.h"
#include "engine/ops/cast.h"
#include "engine/ops/copy_elements.h"
#include "engine/ops/integer_list.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_top_k();

namespace {

template <typename T>
struct Candidate {
  T value;
  std::int64_t index;
};

template <typename T>
bool less_than(T a, T b) {
  if (a != a) return false;
  return b != b || a < b;
}

template <typename T>
void select(const T* x, std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t k, bool largest,
            T* values, std::int64_t* indices) {
  const auto before = [largest](const Candidate<T>& a, const Candidate<T>& b) {
    if (largest ? less_than(b.value, a.value) : less_than(a.value, b.value)) return true;
    if (largest ? less_than(a.value, b.value) : less_than(b.value, a.value)) return false;
    return a.index < b.index;
  };
  kernels::parallel_for(outer * inner, 8192 / n + 1, [&](std::int64_t begin, std::int64_t end) {
    ScratchVector<Candidate<T>> row(static_cast<std::size_t>(n));
    for (std::int64_t i = begin; i < end; ++i) {
      const T* from = x + i / inner * n * inner + i % inner;
      for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] = {from[j * inner], j};
      if (k < n) std::nth_element(row.begin(), row.begin() + k, row.end(), before);
      std::sort(row.begin(), row.begin() + k, before);
      const std::int64_t to = i / inner * k * inner + i % inner;
      for (std::int64_t j = 0; j < k; ++j) {
        values[to + j * inner] = row[static_cast<std::size_t>(j)].value;
        indices[to + j * inner] = row[static_cast<std::size_t>(j)].index;
      }
    }
  });
}

void top_k(RunContext& run, std::int64_t axis_attribute, std::int64_t k, bool largest) {
  const Tensor& given = run.tensor(0);
  const bool half = given.dtype() == DType::float16 || given.dtype() == DType::bfloat16;
  const Tensor x = half ? cast_tensor(given, DType::float32) : given;
  const auto rank = static_cast<std::int64_t>(x.rank());
  const auto axis = static_cast<std::size_t>(normalized_axis(axis_attribute, rank));
  const std::int64_t n = x.dim(axis);
  if (k < 0 || k > n) fail_invalid("k is {}, but axis {} has {} elements", k, axis, n);
  Shape shape = x.shape();
  shape[axis] = k;
  Tensor values(x.dtype(), shape);
  Tensor indices(DType::int64, shape);
  using Types = Join<TypeList<float, double>, Integers>;
  if (values.size() > 0) {
    dispatch(Types{}, x.dtype(), [&]<typename T>() {
      select(x.data<T>(), x.shape().count(0, axis), n, x.shape().count(axis + 1, x.rank()), k, largest,
             values.mutable_data<T>(), indices.mutable_data<std::int64_t>());
    });
  }
  run.set_output(0, cast_tensor(values, given.dtype()));
  run.set_output(1, std::move(indices));
}

RunFunction prepare_k_attribute(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", -1);
  const std::int64_t k = node.int_attribute("k");
  return [axis, k](RunContext& run) { top_k(run, axis, k, true); };
}

RunFunction prepare_k_input(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", -1);
  const bool largest = node.int_attribute("largest", 1) != 0;
  // Leaves the order open; sorted is one of the orders allowed.
  node.accept_attribute("sorted");
  return [axis, largest](RunContext& run) {
    const ScratchVector<std::int64_t> k = integer_list(run.tensor(1), "K");
    if (k.size() != 1) fail_invalid("K must hold one number, but holds {}", k.size());
    top_k(run, axis, k[0], largest);
  };
}

}  // namespace

std::vector<OpRow> op_rows_top_k() {
  return {{"", "TopK", {1}, prepare_k_attribute}, {"", "TopK", {10, 11, 24}, prepare_k_input}};
}

}  // namespace grurun::engine
