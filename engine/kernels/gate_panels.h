// The weights of a recurrent cell, arranged so that the gates of the same units lie side by side.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/kernels/compact_panels.h"
#include "tensor/memory.h"

namespace grurun::kernels {

/// Elements of the widest vector: gates are padded with zeros to a multiple of it.
template <class T>
inline constexpr int64_t kGateLanes = 64 / static_cast<int64_t>(sizeof(T));

/// A matrix [K, gates * hidden_size], column gate * hidden_size + unit for each gate and unit, in panels of
/// units: a panel is, gate by gate, a dense matrix [K, units]. Units are padded with zeros to a multiple of
/// kGateLanes. Copies share the arrangement.
///
/// For instruction sets whose vectors are narrower than kGateLanes the gate of a panel is several matrices
/// [K, kGateLanes] instead, one after the other: what a tile of the product reads then lies together.
///
/// "Panel order" is that of columns by panel, then by gate, then by unit: what a row of products looks like,
/// width() elements.
template <class T>
class GatePanels {
 public:
  GatePanels() = default;

  int64_t K() const { return K_; }
  int64_t gates() const { return gates_; }
  int64_t hidden_size() const { return hidden_size_; }
  /// hidden_size with the padding.
  int64_t padded_size() const { return first_units_.back(); }
  int64_t width() const { return gates_ * padded_size(); }

  /// Panels have units of 3 of the widest vectors, which suits the products best; some have 4, so that none
  /// is left with 1. They lie apart, so that halves are equal. Only where that cannot be the last one has
  /// fewer.
  int64_t panels() const { return static_cast<int64_t>(first_units_.size()) - 1; }
  int64_t first_unit(int64_t i) const { return first_units_[static_cast<size_t>(i)]; }
  int64_t units(int64_t i) const { return first_unit(i + 1) - first_unit(i); }

  /// Where panel i begins in panel order.
  int64_t first_column(int64_t i) const { return gates_ * first_unit(i); }

  /// Panel i; the matrices of its gates follow each other, as do those of panels.
  const T* panel(int64_t i) const { return data_ + first_column(i) * K_; }

  /// Panel i in float32, where the weights are of float64, many, and float32 numbers all the same, as those
  /// of a converted model are; else nullptr. Few rows wait for weights more than they multiply by them.
  const float* narrow_panel(int64_t i) const {
    return narrow_ == nullptr ? nullptr : narrow_ + first_column(i) * K_;
  }

  /// The weights once more in 28 bits each, for products with so many rows: matrix i * gates() + gate for a
  /// gate of panel i. nullptr before make_compact(), and where they are of no use: but for few rows, and
  /// weights of float32 that do not stay in the caches. Results are the same in every bit.
  const CompactPanels* compact(int64_t rows) const {
    return rows > most_compact_rows_ ? nullptr : compact_->panels.load(std::memory_order_acquire);
  }

  /// Makes them, if they are of use and have not been made, which reads all weights several times. On any
  /// thread, also while another one uses these panels.
  void make_compact(int64_t rows) const {
    if (rows <= most_compact_rows_) make_compact_once();
  }

  /// Columns of the dense matrices that make up a gate of panel i.
  int64_t columns(int64_t i) const { return whole_ ? units(i) : kGateLanes<T>; }

  /// True if a gate is one dense matrix.
  bool whole() const { return whole_; }

  /// In panel order [width()]; nullptr if there is none.
  const T* bias() const { return bias_; }

  /// True if all weights are 0 or in kTileRange (tile_range.h), and of float32.
  bool suits_tiles() const { return suits_tiles_; }

  /// True if no weight is an infinity or NaN: 0 times them is then 0.
  bool finite() const { return finite_; }

 private:
  template <class U>
  friend GatePanels<U> pack_gates(int64_t gates, int64_t hidden_size, int64_t K, const U* rows,
                                  const U* bias);

  void make_compact_once() const;

  struct Compact {
    std::once_flag once;
    std::shared_ptr<const CompactPanels> owner;
    std::atomic<const CompactPanels*> panels{nullptr};
  };

  bool whole_ = true;
  int64_t K_ = 0, gates_ = 1, hidden_size_ = 0;
  std::vector<int64_t> first_units_{0};  // by panel, and padded_size() at the end
  std::shared_ptr<const memory::Block> block_;
  const T* data_ = nullptr;
  const float* narrow_ = nullptr;
  int64_t most_compact_rows_ = 0;
  std::shared_ptr<Compact> compact_;  // nullptr: for no rows
  const T* bias_ = nullptr;
  bool suits_tiles_ = false, finite_ = true;
};

/// Whether the kernels of the instruction set in use want whole() gates, narrow and compact panels.
bool want_whole_gates();
bool want_narrow_panels();
bool want_compact_panels();

/// Sets how many rows at most use compact weights of any size, for tests; by size again if it is negative.
void set_most_compact_rows(int64_t rows);

/// Packs, for the instruction set in use, the transpose of rows [gates * hidden_size, K], and bias [gates *
/// hidden_size] unless it is nullptr. Throws Error(limit) where the allocator refuses.
template <class T>
GatePanels<T> pack_gates(int64_t gates, int64_t hidden_size, int64_t K, const T* rows, const T* bias);

}  // namespace grurun::kernels
