// Reductions: which elements of a tensor fall into one of the result, and the loops over them.
//
// A kernel for element type T is a small struct with
//   using Accumulator = ...;
//   Accumulator start() const;                                      the value of an empty set
//   Accumulator step(Accumulator so_far, T x) const;                one more element
//   Accumulator merge(Accumulator a, Accumulator b) const;          two disjoint sets
//   Result finish(Accumulator so_far, std::int64_t count) const;    the result's element
// One that sums floats in double says what of them by a static member sum_of, one that finds the greatest or
// least by a static member greatest: whole arrays of floats then go through kernels/vec_reduce.h, as do the
// greatest and least integers of 32 and 64 bits and, where wraps says so, their sums. Such a kernel for float
// serves 16-bit floats too.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "tensor/dispatch.h"
#include "tensor/memory/scratch.h"
#include "tensor/shape.h"

namespace grurun::engine {

/// A shape seen as alternating kept and reduced dimensions; neighbours of a kind are one, those of extent 1
/// are gone.
struct ReductionShape {
  struct Dim {
    std::int64_t extent;
    std::int64_t stride;
  };
  Shape output;
  std::int64_t count = 1;      // elements that fall into each of the result
  ScratchVector<Dim> kept;     // outermost first
  ScratchVector<Dim> reduced;  // outermost first
  bool inner_reduced = false;  // which kind the innermost dimension is
};

/// axes must be distinct and in [0, rank). keepdims leaves extents of 1 in the output's shape.
ReductionShape reduction_shape(const Shape& input, std::span<const std::int64_t> axes, bool keepdims);

namespace detail {

/// Steps through the offsets of nested dimensions, the last fastest.
class Odometer {
 public:
  Odometer(const ReductionShape::Dim* dims, std::size_t rank, std::int64_t position = 0);
  Odometer(const Odometer&) = delete;
  Odometer& operator=(const Odometer&) = delete;

  std::int64_t offset() const { return offset_; }
  void advance() {
    for (std::size_t d = rank_; d-- > 0;) {
      offset_ += dims_[d].stride;
      if (++index_[d] < dims_[d].extent) return;
      offset_ -= dims_[d].stride * dims_[d].extent;
      index_[d] = 0;
    }
  }

 private:
  const ReductionShape::Dim* dims_;
  std::size_t rank_;
  std::int64_t offset_ = 0;
  std::array<std::int64_t, 8> near_;  // the index, where it has room
  ScratchVector<std::int64_t> far_;
  std::int64_t* index_;
};

inline std::int64_t extent_product(const ReductionShape::Dim* dims, std::size_t rank) {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < rank; ++d) product *= dims[d].extent;
  return product;
}

// Independent partial results, so that the loop over a run becomes vector code.
constexpr std::int64_t lanes = kernels::sums_in_double;

template <typename Kernel, typename T>
concept sums_floats = is_compute_float<T> && requires {
  Kernel::sum_of;
};

template <typename Kernel, typename T>
concept wraps_integers = requires(const T* x) {
  requires std::is_integral_v<T> && Kernel::wraps;
  kernels::reduce_sum(x, std::int64_t{});
};

template <typename Kernel, typename T>
concept orders = requires(const T* x) {
  Kernel::greatest;
  kernels::reduce_max(x, std::int64_t{});
};

template <typename T>
concept Half = is_compute_float<T> && sizeof(T) == 2;

// y[i] = what the kernel makes of so_far[i].
template <typename Kernel, typename Accumulator, typename Result>
void finish_all(const Kernel& kernel, const Accumulator* so_far, std::int64_t count, std::int64_t n,
                Result* y) {
  if constexpr (Half<Result>) {
    constexpr std::int64_t block = 64;
    alignas(64) float wide[block];
    for (std::int64_t i = 0; i < n; i += block) {
      const std::int64_t m = std::min(block, n - i);
      for (std::int64_t j = 0; j < m; ++j) wide[j] = kernel.finish(so_far[i + j], count);
      kernels::vec_convert(wide, y + i, m);
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = kernel.finish(so_far[i], count);
  }
}

template <typename Kernel, typename T>
typename Kernel::Accumulator reduce_run(const Kernel& kernel, typename Kernel::Accumulator so_far, const T* x,
                                        std::int64_t n) {
  if (n < 2 * lanes) {
    if constexpr (Half<T>) {
      alignas(64) float wide[2 * lanes];
      kernels::vec_convert(x, wide, n);
      return reduce_run(kernel, so_far, wide, n);
    } else {
      for (std::int64_t i = 0; i < n; ++i) so_far = kernel.step(so_far, x[i]);
      return so_far;
    }
  }
  if constexpr (sums_floats<Kernel, T>) {
    return kernel.merge(so_far, kernels::sum_in_double(Kernel::sum_of, x, n));
  } else if constexpr (orders<Kernel, T>) {
    return kernel.merge(so_far, Kernel::greatest ? kernels::reduce_max(x, n) : kernels::reduce_min(x, n));
  } else if constexpr (wraps_integers<Kernel, T>) {
    return kernel.merge(so_far, kernels::reduce_sum(x, n));
  }
  typename Kernel::Accumulator partial[lanes];
  for (auto& lane : partial) lane = kernel.start();
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) partial[lane] = kernel.step(partial[lane], x[i + lane]);
  }
  for (std::int64_t lane = 0; i < n; ++i, ++lane) partial[lane] = kernel.step(partial[lane], x[i]);
  for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) {
      partial[lane] = kernel.merge(partial[lane], partial[lane + half]);
    }
  }
  return kernel.merge(so_far, partial[0]);
}

// Runs are reduced, short ones and one for each result: some together.
template <typename Kernel, typename T, typename Result>
void reduce_short_rows(std::int64_t rows, std::int64_t n, const Kernel& kernel, const T* x, Result* y) {
  constexpr std::int64_t together = 64;
  kernels::parallel_for(rows, 32768 / (n + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    double sums[together];
    alignas(64) [[maybe_unused]] float wide[Half<T> ? together * 2 * lanes : 1];
    for (std::int64_t i = begin; i < end; i += together) {
      const std::int64_t count = std::min(together, end - i);
      if constexpr (Half<T>) {
        kernels::vec_convert(x + i * n, wide, count * n);
        kernels::sum_rows_in_double(Kernel::sum_of, wide, count, n, sums);
      } else {
        kernels::sum_rows_in_double(Kernel::sum_of, x + i * n, count, n, sums);
      }
      finish_all(kernel, sums, n, count, y + i);
    }
  });
}

// Runs are reduced: results one after the other.
template <typename Kernel, typename T, typename Result>
void reduce_inner(const ReductionShape& shape, const Kernel& kernel, const T* x, Result* y) {
  const std::int64_t run = shape.reduced.back().extent;
  const std::size_t outer = shape.reduced.size() - 1;
  const std::int64_t runs = extent_product(shape.reduced.data(), outer);
  const std::int64_t results = extent_product(shape.kept.data(), shape.kept.size());
  if constexpr (sums_floats<Kernel, T>) {
    if (run < 2 * lanes && outer == 0 && shape.kept.size() <= 1)
      return reduce_short_rows(results, run, kernel, x, y);
  }
  kernels::parallel_for(results, 32768 / (shape.count + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    Odometer kept(shape.kept.data(), shape.kept.size(), begin);
    for (std::int64_t i = begin; i < end; ++i, kept.advance()) {
      auto so_far = kernel.start();
      Odometer reduced(shape.reduced.data(), outer);
      for (std::int64_t r = 0; r < runs; ++r, reduced.advance()) {
        so_far = reduce_run(kernel, so_far, x + kept.offset() + reduced.offset(), run);
      }
      y[i] = static_cast<Result>(kernel.finish(so_far, shape.count));
    }
  });
}

// Rows of n elements along a reduced dimension, each element falling into its own result.
template <typename Kernel, typename T>
void add_rows(const Kernel&, const T* x, const ReductionShape::Dim& rows,
              typename Kernel::Accumulator* so_far, std::int64_t n) {
  if constexpr (sums_floats<Kernel, T>) {
    kernels::add_in_double(Kernel::sum_of, x, rows.extent, rows.stride, so_far, n);
  } else if constexpr (Kernel::greatest) {
    kernels::raise_to_max(x, rows.extent, rows.stride, so_far, n);
  } else {
    kernels::lower_to_min(x, rows.extent, rows.stride, so_far, n);
  }
}

// Runs are kept: a strip of results side by side, each element of a run falling into its own.
template <typename Kernel, typename T, typename Result>
void reduce_outer(const ReductionShape& shape, const Kernel& kernel, const T* x, Result* y) {
  constexpr std::int64_t strip = 256;
  const std::int64_t run = shape.kept.empty() ? 1 : shape.kept.back().extent;
  const std::size_t outer = shape.kept.empty() ? 0 : shape.kept.size() - 1;
  const std::int64_t strips = (run + strip - 1) / strip;
  const std::int64_t rows = extent_product(shape.kept.data(), outer);
  const std::int64_t work = std::min(run, strip) * shape.count + 1;
  // The innermost reduced dimension, and how many are around it.
  const ReductionShape::Dim last = shape.reduced.empty() ? ReductionShape::Dim{1, 0} : shape.reduced.back();
  const std::size_t levels = shape.reduced.empty() ? 0 : shape.reduced.size() - 1;
  kernels::parallel_for(rows * strips, 32768 / work + 1, [&](std::int64_t begin, std::int64_t end) {
    typename Kernel::Accumulator so_far[strip];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = i / strips;
      const std::int64_t column = i % strips * strip;
      const std::int64_t n = std::min(strip, run - column);
      const Odometer kept(shape.kept.data(), outer, row);
      for (std::int64_t j = 0; j < n; ++j) so_far[j] = kernel.start();
      if constexpr (sums_floats<Kernel, T> || orders<Kernel, T>) {
        Odometer reduced(shape.reduced.data(), levels);
        for (std::int64_t r = 0; r < shape.count; r += last.extent, reduced.advance()) {
          add_rows(kernel, x + kept.offset() + column + reduced.offset(), last, so_far, n);
        }
      } else {
        Odometer reduced(shape.reduced.data(), shape.reduced.size());
        for (std::int64_t r = 0; r < shape.count; ++r, reduced.advance()) {
          const T* from = x + kept.offset() + column + reduced.offset();
          for (std::int64_t j = 0; j < n; ++j) so_far[j] = kernel.step(so_far[j], from[j]);
        }
      }
      finish_all(kernel, so_far, shape.count, n, y + row * run + column);
    }
  });
}

}  // namespace detail

/// y[i] = the kernel's result over the elements of x that fall into i, for every element of the output.
template <typename Kernel, typename T, typename Result>
void reduce(const ReductionShape& shape, const Kernel& kernel, const T* x, Result* y) {
  const std::int64_t results = shape.output.element_count();
  if (shape.count == 0) {
    std::fill_n(y, results, static_cast<Result>(kernel.finish(kernel.start(), 0)));
  } else if (results == 0) {
    return;
  } else if (shape.inner_reduced) {
    detail::reduce_inner(shape, kernel, x, y);
  } else {
    detail::reduce_outer(shape, kernel, x, y);
  }
}

}  // namespace grurun::engine
