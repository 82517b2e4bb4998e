// The weights of a recurrent cell, arranged so that the gates of the same units lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/kernels/gates/compact_panels.h"
#include "tensor/memory/memory.h"

namespace grurun::kernels {

/// Elements of the widest vector: gates are padded with zeros to a multiple of it.
template <class T>
inline constexpr int64_t gate_lanes = 64 / static_cast<int64_t>(sizeof(T));

/// A matrix [K, gates * hidden_size], column gate * hidden_size + unit for each gate and unit, in panels of
/// units: a panel is, gate by gate, a dense matrix [K, units]. Units are padded with zeros to a multiple of
/// gate_lanes.
///
/// For instruction sets whose vectors are narrower than gate_lanes the gate of a panel is several matrices
/// [K, gate_lanes] instead, one after the other: what a tile of the product reads then lies together.
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
  /// is left with 1. Panels of each half of the units are chosen apart where these are many, for two threads
  /// to share. Only where that cannot be the last one has fewer.
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

  /// The weights in 28 bits each, for products of few rows: matrix i * gates() + gate for a gate of panel i.
  /// nullptr unless arrange() made them so; panel() is then not to be read, and products give the same in
  /// every bit.
  const CompactPanels* compact() const { return compact_.get(); }

  /// Whether products of so many rows want arrange() before them: they must not begin where the weights are
  /// compact and rows too many, and gain where they could be. Never for weights that gain nothing.
  bool wants_arranging(int64_t rows) const {
    return most_compact_rows_ > 0 && (rows > most_compact_rows_ || compact_ == nullptr);
  }

  /// Makes the weights what products of so many rows want, in the memory that they have, reading all of them
  /// several times. Weights that many rows have met are compact no more. Nothing else may use them meanwhile.
  void arrange(int64_t rows);

  /// True if arrange() may ever change anything.
  bool may_be_compact() const { return most_compact_rows_ > 0; }

  /// Columns of the dense matrices that make up a gate of panel i.
  int64_t columns(int64_t i) const { return whole_ ? units(i) : gate_lanes<T>; }

  /// True if a gate is one dense matrix.
  bool whole() const { return whole_; }

  /// In panel order [width()]; nullptr if there is none.
  const T* bias() const { return bias_; }

  /// True if all weights are 0 or in range_of_tiles (tile_range.h), and of float32.
  bool suits_tiles() const { return suits_tiles_; }

  /// True if no weight is an infinity or NaN: 0 times them is then 0.
  bool finite() const { return finite_; }

 private:
  template <class U>
  friend GatePanels<U> pack_gates(int64_t gates, int64_t hidden_size, int64_t K, const U* rows,
                                  const U* bias);

  bool whole_ = true;
  int64_t K_ = 0, gates_ = 1, hidden_size_ = 0;
  std::vector<int64_t> first_units_{0};  // by panel, and padded_size() at the end
  std::unique_ptr<const memory::Block> block_;
  T* data_ = nullptr;
  const float* narrow_ = nullptr;
  int64_t most_compact_rows_ = 0;
  std::unique_ptr<const CompactPanels> compact_;
  const T* bias_ = nullptr;
  bool suits_tiles_ = false, finite_ = true;
};

/// Whether the kernels of the instruction set in use want whole() gates, narrow and compact panels.
bool want_whole_gates();
bool want_narrow_panels();
bool want_compact_panels();

/// Packs, for the instruction set in use, the transpose of rows [gates * hidden_size, K], and bias [gates *
/// hidden_size] unless it is nullptr. Throws Error(limit) where the allocator refuses.
template <class T>
GatePanels<T> pack_gates(int64_t gates, int64_t hidden_size, int64_t K, const T* rows, const T* bias);

}  // namespace grurun::kernels
