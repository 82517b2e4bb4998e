// Weights of float32 in 28 bits each: products of few rows wait for weights more than they multiply by them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tensor/memory.h"

namespace grurun::kernels {

/// Matrices of float32, row by row; each follows the one before.
struct DenseMatrices {
  const float* data;
  int64_t K;                     // rows of each
  std::vector<int64_t> columns;  // of each
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
  static constexpr int64_t kGroupRows = 8;
  static constexpr uint32_t kSpareBits = 0x78000000;

  /// nullptr where it would save less than a sixteenth.
  static std::shared_ptr<const CompactPanels> pack(const DenseMatrices& matrices);

  /// A matrix: its words, and how many groups are compact, how many follow that are not, and so on in turn
  /// until all K / kGroupRows are told.
  struct Matrix {
    const uint32_t* words;
    const uint32_t* runs;
  };
  Matrix matrix(int64_t i) const {
    const Place& place = places_[static_cast<size_t>(i)];
    return {words_ + place.word, runs_.data() + place.run};
  }

  /// Products of compact numbers and x * 2^shift() are those of the weights and x.
  int shift() const { return shift_; }

 private:
  struct Place {
    int64_t word, run;
  };

  int shift_ = 0;
  std::vector<Place> places_;
  std::vector<uint32_t> runs_;
  std::unique_ptr<memory::Reserve> block_;  // no block: those of a run are laid out together
  const uint32_t* words_ = nullptr;
};

}  // namespace grurun::kernels
