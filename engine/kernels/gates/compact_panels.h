// Weights of float32 in 28 bits each: products of few rows wait for weights more than they multiply by them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace grurun::kernels {

/// Matrices of float32, row by row; each follows the one before.
struct DenseMatrices {
  float* data;
  int64_t K;                     // rows of each
  std::vector<int64_t> columns;  // of each, at most most_columns

  static constexpr int64_t most_columns = 64;
};

/// The same numbers in seven eighths of the memory.
///
/// Weights of one layer hardly differ in size by more than fifteen binades, which four of the eight bits of
/// an exponent tell apart. A number divided by 2^shift() has zeros in the other four, bits 27 to 30. Of eight
/// rows, a group, those bits of the first seven hold what 28 bits of the eighth have left to say:
/// bits 27 to 30 of row i, rotated to the left by 4 (i + 1), are its bits there.
///
/// A group with a number that is neither zero nor within the fifteen binades stays as it is; so do the rows
/// after the last whole group.
class CompactPanels {
 public:
  static constexpr int64_t group_rows = 8;
  static constexpr uint32_t spare_bits = 0x78000000;

  /// Makes matrices compact in their place, one after the other from its beginning on. nullptr, and they stay
  /// as they are, where it would save less than a sixteenth.
  static std::unique_ptr<const CompactPanels> pack(DenseMatrices matrices);

  /// Makes them again what they were.
  void unpack() const noexcept;

  /// A matrix: its words, whose bits are those of floats, and how many groups are compact, how many follow
  /// that are not, and so on in turn until all K / group_rows are told.
  struct Matrix {
    const float* words;
    const uint32_t* runs;
  };
  Matrix matrix(int64_t i) const {
    const auto at = static_cast<size_t>(i);
    return {matrices_.data + places_[at].words, runs_.data() + places_[at].run};
  }

  /// Products of compact numbers and x * 2^shift() are those of the weights and x.
  int shift() const { return shift_; }

  /// The group_rows * columns numbers of a compact group.
  void unpack_group(const float* words, int64_t columns, float* group) const;

 private:
  explicit CompactPanels(DenseMatrices matrices);
  using Exponents = std::array<int64_t, 256>;  // how many numbers have each
  Exponents count_exponents() const;
  void choose_groups(uint32_t least);
  // Once numbers are being moved nothing may fail: what they were could no longer be told.
  void pack_matrix(size_t i) const noexcept;
  void close_gaps() const noexcept;
  void open_gaps() const noexcept;
  void unpack_matrix(size_t i) const noexcept;

  /// Where a matrix begins: its numbers in dense matrices, its words, and its first run.
  struct Place {
    int64_t numbers, words, run;
  };

  DenseMatrices matrices_;
  int shift_ = 0;
  std::vector<Place> places_;  // of each matrix, and of one after the last
  std::vector<uint32_t> runs_;
};

}  // namespace grurun::kernels
