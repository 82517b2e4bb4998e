#include "engine/kernels/gemm/split_product.h"

#include <algorithm>
#include <new>

#include "engine/kernels/machine/simd_targets.h"
#include "tensor/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm/split_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/gemm/tile_product-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if GRURUN_TILES

/// Rows that are multiplied at a time: groups of about the same size.
struct SplitRowGroups {
  size_t rows, groups;

  explicit SplitRowGroups(int64_t n)
      : rows(static_cast<size_t>(n)), groups((rows + tiled_rows - 1) / tiled_rows) {}
  size_t begin(size_t group) const { return group * rows / groups; }
};

constexpr size_t split_header = 64;
static_assert(sizeof(SplitRows) <= split_header);

size_t split_group_bytes(size_t K) {
  return split_header + SplitRows::bytes(tiled_rows, K);
}

int64_t split_bytes_of(int64_t rows, int64_t K) {
  return static_cast<int64_t>(SplitRowGroups(rows).groups * split_group_bytes(static_cast<size_t>(K)));
}

void split_all(const float* A, int64_t lda, int64_t rows, int64_t K_signed, void* to_void) {
  const SplitRowGroups all(rows);
  const auto K = static_cast<size_t>(K_signed);
  char* to = static_cast<char*>(to_void);
  for (size_t g = 0; g < all.groups; ++g, to += split_group_bytes(K)) {
    const size_t first = all.begin(g);
    new (to) SplitRows(all.begin(g + 1) - first, K, A + first * static_cast<size_t>(lda),
                       static_cast<size_t>(lda), to + split_header);
  }
}

/// Bit j: column j of B has a number that is neither 0 nor in range_of_tiles.
uint64_t columns_outside(const PanelProduct<float>& p, size_t width) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto least = hn::Set(du, range_of_tiles.least),
             range = hn::Set(du, range_of_tiles.most - range_of_tiles.least);
  uint64_t columns = 0;
  for (size_t j = 0; j < width; j += tile_width) {
    auto outside = hn::Zero(du);
    for (int64_t k = 0; k < p.K; ++k) {
      const auto magnitude =
          hn::BitCast(du, hn::Abs(hn::LoadU(d, p.B + k * p.ldb + static_cast<int64_t>(j))));
      outside = hn::Or(outside, hn::IfThenElseZero(hn::Gt(hn::Sub(magnitude, least), range), magnitude));
    }
    uint8_t bits[8] = {};
    hn::StoreMaskBits(du, hn::Ne(outside, hn::Zero(du)), bits);
    columns |= static_cast<uint64_t>(bits[0] | bits[1] << 8) << j;
  }
  return columns;
}

/// rows x columns, row by row `from_ld` and `to_ld` apart.
void copy_sums(const float* from, size_t from_ld, size_t rows, size_t columns, float* to, size_t to_ld) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows; ++r, from += from_ld, to += to_ld) {
    size_t j = 0;
    for (; j + lanes <= columns; j += lanes) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
    const auto rest = hn::FirstN(d, columns - j);
    if (j < columns) hn::BlendedStore(hn::MaskedLoad(rest, d, from + j), rest, d, to + j);
  }
}

/// Rows of one group times the panel.
class SplitGroupProduct {
 public:
  SplitGroupProduct(const PanelProduct<float>& p, const SplitRows& A, size_t row, uint64_t outside)
      : p_(p), A_(A), row_(row), outside_(outside) {}

  void run() const {
    const auto columns = static_cast<size_t>(p_.columns), ldc = static_cast<size_t>(p_.ldc);
    float* C = p_.C + row_ * ldc;
    if (columns % tile_width == 0 && outside_ == 0 && !A_.any_outside()) return product(C, ldc);
    HWY_ALIGN float sums[tiled_rows * panel_width] = {};
    if (p_.epilogue.from_c) copy_sums(C, ldc, A_.rows(), columns, sums, panel_width);
    if (outside_ == 0 && !A_.any_outside()) {
      product(sums, panel_width);
    } else {
      HWY_ALIGN float tiled[tiled_rows * panel_width];
      std::copy_n(sums, tiled_rows * panel_width, tiled);
      product(tiled, panel_width);
      without_tiles(sums);
      for (size_t r = 0; r < A_.rows(); ++r) {
        for (size_t j = 0; j < columns; ++j) {
          if (!A_.is_outside(r) && (outside_ >> j & 1) == 0)
            sums[r * panel_width + j] = tiled[r * panel_width + j];
        }
      }
    }
    copy_sums(sums, panel_width, A_.rows(), columns, C, ldc);
  }

 private:
  static constexpr size_t panel_width = static_cast<size_t>(columns_of_panel<float>);

  size_t width() const {
    return (static_cast<size_t>(p_.columns) + tile_width - 1) / tile_width * tile_width;
  }
  const float* row_bias() const { return p_.epilogue.row_bias ? p_.epilogue.row_bias + row_ : nullptr; }

  void product(float* C, size_t ldc) const {
    const hn::ScalableTag<float> d;
    for (size_t r = 0; row_bias() && r < A_.rows(); ++r) {
      for (size_t j = 0; j < width(); j += tile_width) {
        const auto bias = hn::Set(d, row_bias()[r]);
        hn::StoreU(p_.epilogue.from_c ? hn::Add(hn::LoadU(d, C + r * ldc + j), bias) : bias, d,
                   C + r * ldc + j);
      }
    }
    const TileFactor B{static_cast<size_t>(p_.K), 1, width(), p_.B, static_cast<size_t>(p_.ldb), 0};
    tile_product(A_, B, nullptr, p_.epilogue.from_c || row_bias(), C, ldc);
  }

  void without_tiles(float* sums) const {
    PanelProduct<float> p = p_;
    p.rows = static_cast<int64_t>(A_.rows());
    p.A += row_ * static_cast<size_t>(p.lda);
    p.columns = static_cast<int64_t>(width());
    p.C = sums, p.ldc = static_cast<int64_t>(panel_width);
    p.epilogue.row_bias = row_bias();
    multiply_panel(p);
  }

  const PanelProduct<float>& p_;
  const SplitRows& A_;
  size_t row_;
  uint64_t outside_;
};

void multiply_all(const PanelProduct<float>& p, const void* split) {
  const SplitRowGroups all(p.rows);
  const auto K = static_cast<size_t>(p.K);
  const size_t width = (static_cast<size_t>(p.columns) + tile_width - 1) / tile_width * tile_width;
  const uint64_t outside = columns_outside(p, width);
  const char* from = static_cast<const char*>(split);
  size_t configured = 0;
  for (size_t g = 0; g < all.groups; ++g, from += split_group_bytes(K)) {
    const SplitRows& A = *reinterpret_cast<const SplitRows*>(from);
    if (A.height() != configured) configure_tiles(A);
    configured = A.height();
    SplitGroupProduct(p, A, all.begin(g), outside).run();
  }
  release_tiles();
}

#else

int64_t split_bytes_of(int64_t, int64_t) {
  return 0;
}
void split_all(const float*, int64_t, int64_t, int64_t, void*) {
  fail_internal("split_rows without tile registers");
}
void multiply_all(const PanelProduct<float>&, const void*) {
  fail_internal("multiply_split without tile registers");
}

#endif

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(split_bytes_of);
HWY_EXPORT(split_all);
HWY_EXPORT(multiply_all);

int64_t split_bytes(int64_t rows, int64_t K) {
  return HWY_DYNAMIC_DISPATCH(split_bytes_of)(rows, K);
}
void split_rows(const float* A, int64_t lda, int64_t rows, int64_t K, void* to) {
  HWY_DYNAMIC_DISPATCH(split_all)(A, lda, rows, K, to);
}
void multiply_split(const PanelProduct<float>& p, const void* split) {
  HWY_DYNAMIC_DISPATCH(multiply_all)(p, split);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
