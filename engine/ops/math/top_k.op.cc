// TopK: the k largest elements along axis (the smallest with largest = 0, version 11 on) and their indices,
// best first; of equal ones the lower index comes first. NaN counts as larger than every number, as numpy
// sorts it. k is an attribute in version 1 and an input from 10 on. With sorted = 0 any order would do: it is
// sorted all the same.
#include <algorithm>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

template <typename T>
struct Candidate {
  T value;
  std::int64_t index;
};

template <typename T>
bool less_than(T a, T b) {
  return (a == a) & ((b != b) | (a < b));
}

template <bool largest, typename T>
bool better(T a, T b) {
  return largest ? less_than(b, a) : less_than(a, b);
}

template <bool largest, typename T>
bool before(const Candidate<T>& a, const Candidate<T>& b) {
  if (better<largest>(a.value, b.value)) return true;
  return !better<largest>(b.value, a.value) && a.index < b.index;
}

constexpr std::int64_t block = 16;

template <typename T>
constexpr std::int64_t line = 64 / sizeof(T);  // elements of a line of the cache

// In vectors, since it has no branches.
template <bool largest, typename T>
bool any_better(const T* x, T bound) {
  int any = 0;
  for (std::int64_t i = 0; i < block; ++i) any |= better<largest>(x[i], bound) ? 1 : 0;
  return any != 0;
}
template <bool largest, std::int64_t n, typename T>
bool any_better(const T* x, const T* bounds) {
  int any = 0;
  for (std::int64_t i = 0; i < n; ++i) any |= better<largest>(x[i], bounds[i]) ? 1 : 0;
  return any != 0;
}

// The most elements that are kept in order all the time: so few that putting one in its place takes less than
// what select_row does.
constexpr std::int64_t most_in_order = 16;

// Leaves the k best of x [n] in pool, best first.
template <bool largest, typename T>
void select_few(const T* x, std::int64_t n, std::int64_t k, ScratchVector<Candidate<T>>& pool) {
  pool.clear();
  const auto insert = [&](std::int64_t j) {
    std::size_t place = pool.size() - 1;
    for (; place > 0 && better<largest>(x[j], pool[place - 1].value); --place) pool[place] = pool[place - 1];
    pool[place] = {x[j], j};
  };
  for (std::int64_t j = 0; j < k; ++j) {
    pool.push_back({});
    insert(j);
  }
  for (std::int64_t from = k; from < n; from += block) {
    const std::int64_t end = std::min(from + block, n);
    if (end - from == block && !any_better<largest>(x + from, pool.back().value)) continue;
    for (std::int64_t j = from; j < end; ++j) {
      if (better<largest>(x[j], pool.back().value)) insert(j);
    }
  }
}

// Leaves the k best of x [n] at the begin of pool, best first. Later elements join the pool only if they are
// better than the k-th best of those that were there when it was full last: of most rows that is a small
// part.
template <bool largest, typename T>
void select_row(const T* x, std::int64_t n, std::int64_t k, ScratchVector<Candidate<T>>& pool) {
  const auto kept = static_cast<std::size_t>(k);
  const std::size_t full = 2 * kept + 64;
  bool bounded = false;
  T bound{};
  pool.clear();
  for (std::int64_t from = 0; from < n; from += block) {
    const std::int64_t end = std::min(from + block, n);
    if (bounded && end - from == block && !any_better<largest>(x + from, bound)) continue;
    for (std::int64_t j = from; j < end; ++j) {
      if (!bounded || better<largest>(x[j], bound)) pool.push_back({x[j], j});
    }
    if (pool.size() + block <= full) continue;
    std::nth_element(pool.begin(), pool.begin() + k - 1, pool.end(), before<largest, T>);
    pool.resize(kept);
    bound = pool.back().value;
    bounded = true;
  }
  if (pool.size() > kept) std::nth_element(pool.begin(), pool.begin() + k, pool.end(), before<largest, T>);
  std::sort(pool.begin(), pool.begin() + k, before<largest, T>);
}

// The k best of each of columns [n], `inner` apart, side by side in one cache line: no copy of them is needed
// where few are kept in order. pool [columns, k].
template <bool largest, typename T>
void select_columns(const T* x, std::int64_t n, std::int64_t inner, std::int64_t columns, std::int64_t k,
                    ScratchVector<Candidate<T>>& pool) {
  pool.assign(static_cast<std::size_t>(columns * k), {});
  T bounds[line<T>];
  const auto insert = [&](std::int64_t c, std::int64_t j, std::int64_t kept) {
    Candidate<T>* const best = pool.data() + c * k;
    const T value = x[j * inner + c];
    std::int64_t place = kept;
    for (; place > 0 && better<largest>(value, best[place - 1].value); --place) best[place] = best[place - 1];
    best[place] = {value, j};
    bounds[c] = best[kept].value;
  };
  for (std::int64_t j = 0; j < n; ++j) {
    const T* const row = x + j * inner;
    if (j >= k && columns == line<T> && !any_better<largest, line<T>>(row, bounds)) continue;
    for (std::int64_t c = 0; c < columns; ++c) {
      if (j < k || better<largest>(row[c], bounds[c])) insert(c, j, std::min(j, k - 1));
    }
  }
}

// x [outer, n, inner]; rows that do not lie in one piece are taken, or copied, as many at a time as a cache
// line holds.
template <bool largest, typename T>
void select(const T* x, std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t k, T* values,
            std::int64_t* indices) {
  const std::int64_t width = std::min<std::int64_t>(inner, line<T>);
  const std::int64_t groups = (inner + width - 1) / width;
  const bool few = k <= most_in_order, by_columns = few && inner != 1, copies = !few && inner != 1;
  kernels::parallel_for(outer * groups, 8192 / (n * width) + 1, [&](std::int64_t begin, std::int64_t end) {
    ScratchVector<Candidate<T>> pool;
    pool.reserve(static_cast<std::size_t>(by_columns ? width * k : std::min(n, 2 * k + 64)));
    ScratchVector<T> copy(static_cast<std::size_t>(copies ? n * width : 0));
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group % groups * width;
      const std::int64_t count = std::min(width, inner - first);
      const T* from = x + group / groups * n * inner + first;
      if (by_columns) select_columns<largest>(from, n, inner, count, k, pool);
      for (std::int64_t j = 0; copies && j < n; ++j) {
        for (std::int64_t c = 0; c < count; ++c)
          copy[static_cast<std::size_t>(c * n + j)] = from[j * inner + c];
      }
      for (std::int64_t c = 0; c < count; ++c) {
        const T* const row = copies ? copy.data() + c * n : from;
        if (!few) {
          select_row<largest>(row, n, k, pool);
        } else if (!by_columns) {
          select_few<largest>(row, n, k, pool);
        }
        const Candidate<T>* const best = pool.data() + (by_columns ? c * k : 0);
        const std::int64_t to = group / groups * k * inner + first + c;
        for (std::int64_t j = 0; j < k; ++j) {
          values[to + j * inner] = best[j].value;
          indices[to + j * inner] = best[j].index;
        }
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
  if (k < 0 || k > n) refuse();
  Shape shape = x.shape();
  shape[axis] = k;
  Tensor values(x.dtype(), shape);
  Tensor indices(DType::int64, shape);
  using Types = Join<TypeList<float, double>, Integers>;
  if (values.size() > 0) {
    dispatch(Types{}, x.dtype(), [&]<typename T>() {
      const auto run_select = largest ? select<true, T> : select<false, T>;
      run_select(x.data<T>(), x.shape().count(0, axis), n, x.shape().count(axis + 1, x.rank()), k,
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
    const ScratchVector<std::int64_t> k = integer_list(run.tensor(1));
    if (run.tensor(1).rank() != 1 || k.size() != 1) refuse();
    top_k(run, axis, k[0], largest);
  };
}

}  // namespace

std::vector<OpRow> op_rows_top_k() {
  return {{"", "TopK", {1}, prepare_k_attribute}, {"", "TopK", {10, 11, 24}, prepare_k_input}};
}

}  // namespace grurun::engine
