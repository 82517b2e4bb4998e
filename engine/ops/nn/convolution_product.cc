#include "engine/ops/nn/convolution_product.h"

#include <algorithm>
#include <type_traits>

#include "engine/kernels/gemm/gemm_tile.h"
#include "engine/kernels/gemm/split_product.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/vec/tap_sums.h"
#include "engine/ops/nn/convolution_parts.h"
#include "tensor/tensor.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t panel_vectors = 3;
constexpr std::int64_t few_filters = 4;    // for which it is not worth while to put panels together
constexpr std::int64_t most_depth = 512;   // rows of a panel that is multiplied at a time
constexpr std::int64_t least_depth = 144;  // likewise, where there are very many filters
constexpr std::int64_t split_filters = 32, split_depth = 64;  // from which tile registers are worth while
constexpr std::int64_t weight_elements = 192 * 1024;          // that stay in cache while panels pass by
constexpr std::int64_t sum_elements = 256 * 1024;             // likewise, while products are added to them

// Calls body(begin, end) for parts of `units` units at most that cover [begin, end), of about the same size.
template <typename Body>
void for_each_part(std::int64_t begin, std::int64_t end, std::int64_t unit, std::int64_t units,
                   const Body& body) {
  const std::int64_t all = ceil_div(end - begin, unit), parts = ceil_div(all, units);
  for (std::int64_t part = 0; part < parts; ++part) {
    body(begin + part * all / parts * unit, std::min(end, begin + (part + 1) * all / parts * unit));
  }
}

}  // namespace

template <typename T>
ProductForm ProductForm::of(std::int64_t filters, std::int64_t depth) {
  const bool is_split = std::is_same_v<T, float> && filters >= split_filters && depth >= split_depth &&
                        kernels::tile_registers();
  const std::int64_t at_most = std::clamp(weight_elements / filters, least_depth, most_depth);
  const std::int64_t parts = std::max<std::int64_t>(1, ceil_div(depth, at_most)),
                     at_once = ceil_div(depth, parts);
  return {is_split, is_split ? ceil_div(at_once, kernels::split_terms) * kernels::split_terms : at_once};
}

template ProductForm ProductForm::of<float>(std::int64_t, std::int64_t);
template ProductForm ProductForm::of<double>(std::int64_t, std::int64_t);

template <typename T>
void BlockProduct<T>::run(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) const {
  constexpr std::int64_t vector = kernels::columns_of_vector<T>;
  const std::int64_t filters = last - first;
  if (!form.is_split && filters <= few_filters && block.is_padded()) {
    return filters == 1 ? run_by_rows(first, begin, end) : run_where_they_lie(first, last, begin, end);
  }
  const std::int64_t at_once = std::min(form.at_once, depth);
  Tensor workspace(dtype_of<T>, Shape{at_once * kernels::columns_of_panel<T> + vector});
  T* packed = workspace.template mutable_data<T>();
  Tensor split;
  if (form.is_split) split = Tensor(DType::uint8, Shape{kernels::split_bytes(filters, at_once)});
  const std::int64_t panels =
      std::max<std::int64_t>(4, sum_elements / (filters * kernels::columns_of_panel<T>));
  for_each_part(begin, end, vector, panels * panel_vectors, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t k = 0; k < depth || k == 0; k += at_once) {
      const std::int64_t rows = std::min(at_once, depth - k);
      kernels::Epilogue<T> epilogue;
      epilogue.row_bias = k == 0 && bias != nullptr ? bias + first : nullptr;
      epilogue.from_c = k > 0;
      if constexpr (std::is_same_v<T, float>) {
        if (form.is_split)
          kernels::split_rows(w + first * depth + k, depth, filters, rows, split.mutable_raw());
      }
      for_each_part(from, to, vector, panel_vectors, [&](std::int64_t left, std::int64_t right) {
        if (!form.is_split && block.is_adjacent()) {
          kernels::multiply_gathered(
              kernels::GatheredProduct<T>{filters, right - left, rows, w + first * depth + k, depth,
                                          block.place(left), block.offsets() + k, y + first * ldy + left, ldy,
                                          epilogue},
              packed);
          return;
        }
        block.pack(left, right, k, rows, packed);
        const kernels::PanelProduct<T> product{filters,
                                               right - left,
                                               rows,
                                               w + first * depth + k,
                                               depth,
                                               packed,
                                               ceil_div(right - left, vector) * vector,
                                               y + first * ldy + left,
                                               ldy,
                                               epilogue};
        if constexpr (std::is_same_v<T, float>) {
          if (form.is_split) return kernels::multiply_split(product, split.raw());
        }
        kernels::multiply_panel(product);
      });
      if (at_once == 0) break;
    }
    end_with_tail(first, last, from, to);
  });
}

template <typename T>
void BlockProduct<T>::run_where_they_lie(std::int64_t first, std::int64_t last, std::int64_t begin,
                                         std::int64_t end) const {
  for (std::int64_t from = begin, to = 0; from < end; from = to) {
    to = std::min({end, from + block.adjacent(from), from + kernels::columns_of_panel<T>});
    kernels::Epilogue<T> epilogue;
    epilogue.row_bias = bias != nullptr ? bias + first : nullptr;
    kernels::multiply_gathered(kernels::GatheredProduct<T>{last - first, to - from, depth, w + first * depth,
                                                           depth, block.place(from), block.offsets(),
                                                           y + first * ldy + from, ldy, epilogue});
  }
  end_with_tail(first, last, begin, end);
}

template <typename T>
void BlockProduct<T>::run_by_rows(std::int64_t m, std::int64_t begin, std::int64_t end) const {
  const std::int64_t width = block.width();
  // Places that begin or end within a row, and whole rows between them.
  for (std::int64_t from = begin, to = 0; from < end; from = to) {
    to = end / width * width;
    if (from % width != 0 || to <= from) to = std::min(end, (from / width + 1) * width);
    const std::int64_t rows = std::max<std::int64_t>(1, (to - from) / width);
    // Taps of several channels are not one above the other: 1.
    kernels::sum_taps(kernels::TapSums<T>{rows, (to - from) / rows, depth, 1, w + m * depth, block.offsets(),
                                          bias != nullptr ? bias[m] : T(0), block.place(from), block.pitch(),
                                          y + m * ldy + from, width});
  }
  end_with_tail(m, m + 1, begin, end);
}

template <typename T>
void BlockProduct<T>::end_with_tail(std::int64_t first, std::int64_t last, std::int64_t begin,
                                    std::int64_t end) const {
  if (!tail) return;
  // Whole planes lie side by side.
  if (end - begin == ldy) return tail(y + first * ldy, (last - first) * ldy, {channel + first, ldy});
  for (std::int64_t m = first; m < last; ++m) tail(y + m * ldy + begin, end - begin, {channel + m, ldy});
}

template struct BlockProduct<float>;
template struct BlockProduct<double>;

}  // namespace grurun::engine
