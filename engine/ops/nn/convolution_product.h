// The product of a convolution's filters and the places of one loaded block.
#pragma once

#include <cstdint>

#include "engine/ops/nn/convolution.h"
#include "engine/ops/nn/convolution_planes.h"

namespace grurun::engine {

/// How sums are computed, the same for all filters and places of a convolution.
struct ProductForm {
  bool is_split = false;     // on tile registers (split_product.h)
  std::int64_t at_once = 1;  // of their depth, whole split_terms if split

  /// filters, depth: of a plane.
  template <typename T>
  static ProductForm of(std::int64_t filters, std::int64_t depth);
};

/// y[m, place] = bias[m] + sum over k of w[m, k] * (what tap k of the place reads), then the tail.
template <typename T>
struct BlockProduct {
  const PlaneBlock<T>& block;
  std::int64_t channel;  // of Y that the first filter makes
  ProductForm form;
  std::int64_t depth;
  const T* w;     // [filters, depth]
  const T* bias;  // [filters], or null
  T* y;           // the first place of the first filter
  std::int64_t ldy;
  const RowTail<T>& tail;

  /// Filters [first, last) at places [begin, end) of the block.
  void run(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) const;

 private:
  void run_where_they_lie(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) const;
  void run_by_rows(std::int64_t m, std::int64_t begin, std::int64_t end) const;
  void end_with_tail(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) const;
};

extern template struct BlockProduct<float>;
extern template struct BlockProduct<double>;

}  // namespace grurun::engine
