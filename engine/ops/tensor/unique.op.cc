// Unique (ai.onnx 11, 28).
//
// The distinct elements of X, or with axis its distinct slices; sorted (the default) ascending, else in order
// of first occurrence. Outputs: Y; indices of first occurrences; inverse_indices (where in Y each element of
// X is); counts. All int64.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

// X as slices: element e of slice s is at (e / after) * length * after + s * after + e % after.
struct Slices {
  Tensor input;
  std::size_t axis;
  std::int64_t length, before, after;

  std::int64_t at(std::int64_t slice, std::int64_t row) const { return (row * length + slice) * after; }
};

// A total order: NaN equals NaN and comes last, as numpy sorts; complex by real, then imaginary part.
template <typename T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
    const int real = compare(a.real(), b.real());
    return real != 0 ? real : compare(a.imag(), b.imag());
  } else if constexpr (is_compute_float<T>) {
    const ComputeType<T> x = a, y = b;
    if (std::isnan(x) || std::isnan(y))
      return static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
    return static_cast<int>(x > y) - static_cast<int>(x < y);
  } else {
    return static_cast<int>(a > b) - static_cast<int>(a < b);
  }
}

template <typename T>
int compare_slices(const Slices& slices, std::int64_t a, std::int64_t b) {
  const T* data = slices.input.data<T>();
  for (std::int64_t row = 0; row < slices.before; ++row) {
    for (std::int64_t i = 0; i < slices.after; ++i) {
      const int order = compare(data[slices.at(a, row) + i], data[slices.at(b, row) + i]);
      if (order != 0) return order;
    }
  }
  return 0;
}

struct Found {
  std::vector<std::int64_t> first, inverse, counts;
};

Tensor int64_list(const std::vector<std::int64_t>& values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

/// All slices are equal: there is nothing in them.
void set_outputs_of_empty_slices(RunContext& run, const Slices& slices) {
  Shape shape = slices.input.shape();
  shape[slices.axis] = 1;
  run.set_output(0, Tensor(slices.input.dtype(), shape));
  if (run.has_output(1)) run.set_output(1, int64_list({0}));
  if (run.has_output(2)) run.set_output(2, Tensor::zeros(DType::int64, Shape{slices.length}));
  if (run.has_output(3)) run.set_output(3, int64_list({slices.length}));
}

template <typename T>
Found find_unique(const Slices& slices, bool sorted) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(slices.length));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](std::int64_t a, std::int64_t b) { return compare_slices<T>(slices, a, b) < 0; });
  Found found;
  found.inverse.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    // The sort is stable, so the first of equals is the first occurrence.
    if (i == 0 || compare_slices<T>(slices, order[i - 1], order[i]) != 0) {
      found.first.push_back(order[i]);
      found.counts.push_back(0);
    }
    ++found.counts.back();
    found.inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(found.first.size()) - 1;
  }
  if (sorted) return found;
  std::vector<std::size_t> by_occurrence(found.first.size());
  std::iota(by_occurrence.begin(), by_occurrence.end(), 0u);
  std::ranges::sort(by_occurrence, {}, [&](std::size_t i) { return found.first[i]; });
  Found out;
  std::vector<std::int64_t> place(by_occurrence.size());
  for (const std::size_t i : by_occurrence) {
    place[i] = static_cast<std::int64_t>(out.first.size());
    out.first.push_back(found.first[i]);
    out.counts.push_back(found.counts[i]);
  }
  for (const std::int64_t i : found.inverse) out.inverse.push_back(place[static_cast<std::size_t>(i)]);
  return out;
}

RunFunction prepare_unique(PrepareContext& node) {
  const auto axis = node.optional_int("axis");
  const bool sorted = node.int_attribute("sorted", 1) != 0;
  return [axis, sorted](RunContext& run) {
    const Tensor& input = run.tensor(0);
    Slices slices;
    slices.input = axis ? input : input.reshaped(Shape{input.size()});
    const auto rank = static_cast<std::int64_t>(slices.input.rank());
    slices.axis = axis ? static_cast<std::size_t>(normalized_axis(*axis, rank)) : 0;
    slices.length = slices.input.dim(slices.axis);
    slices.before = slices.input.shape().count(0, slices.axis);
    slices.after = slices.input.shape().count(slices.axis + 1, slices.input.rank());
    if (slices.input.size() == 0 && slices.length > 0) return set_outputs_of_empty_slices(run, slices);
    const Found found = dispatch(Join<Numbers, Complexes, TypeList<bool, std::string>>{}, input.dtype(),
                                 [&]<typename T>() { return find_unique<T>(slices, sorted); });
    Shape shape = slices.input.shape();
    const auto count = static_cast<std::int64_t>(found.first.size());
    shape[slices.axis] = count;
    Tensor out(input.dtype(), shape);
    for (std::int64_t row = 0; row < slices.before && count > 0; ++row) {
      for (std::int64_t i = 0; i < count; ++i) {
        copy_elements(out, (row * count + i) * slices.after, slices.input,
                      slices.at(found.first[static_cast<std::size_t>(i)], row), slices.after);
      }
    }
    run.set_output(0, std::move(out));
    if (run.has_output(1)) run.set_output(1, int64_list(found.first));
    if (run.has_output(2)) run.set_output(2, int64_list(found.inverse));
    if (run.has_output(3)) run.set_output(3, int64_list(found.counts));
  };
}

}  // namespace

std::vector<OpRow> op_rows_unique() {
  return {{"", "Unique", {11, 28}, prepare_unique}};
}

}  // namespace grurun::engine
