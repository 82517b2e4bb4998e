#include "engine/kernels/gates/compact_panels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/tuning.h"

namespace grurun::kernels {
namespace {

constexpr int64_t group_rows = CompactPanels::group_rows;
constexpr uint32_t magnitude_bits = 0x7fffffff, mantissa_bits = 23;
constexpr uint32_t binades = 15;      // that four bits tell apart, where none of them means zero
constexpr uint32_t most_shift = 120;  // so that x * 2^shift seldom is too large

uint32_t bits_of(float number) {
  return std::bit_cast<uint32_t>(number);
}

/// The least exponent of the fifteen in a row that most numbers have; 0 where there is none.
uint32_t least_exponent(const std::array<int64_t, 256>& count) {
  uint32_t best = 0;
  int64_t most = 0;
  for (uint32_t least = 1; least <= most_shift + 1; ++least) {
    const auto first = count.begin() + least;
    const int64_t within = std::accumulate(first, first + binades, int64_t{0});
    if (within <= most) continue;
    most = within;
    best = least;
  }
  return best;
}

bool fits(const float* group, int64_t count, uint32_t least) {
  uint32_t outside = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t magnitude = bits_of(group[i]) & magnitude_bits;
    const uint32_t above = (magnitude >> mantissa_bits) - least;
    outside |= static_cast<uint32_t>(magnitude != 0) & static_cast<uint32_t>(above >= binades);
  }
  return outside == 0;
}

/// The bits of number / 2^shift, whose exponent is that of `number` minus `shift`.
uint32_t shifted(float number, uint32_t shift) {
  const uint32_t bits = bits_of(number);
  return (bits & magnitude_bits) == 0 ? bits : bits - (shift << mantissa_bits);
}

void pack_group(const float* group, int64_t columns, uint32_t shift, float* words) {
  const float* eighth = group + (group_rows - 1) * columns;
  for (int64_t row = 0; row < group_rows - 1; ++row) {
    for (int64_t i = row * columns, column = 0; column < columns; ++i, ++column) {
      const uint32_t rest = std::rotr(shifted(eighth[column], shift), static_cast<int>(4 * (row + 1)));
      words[i] = std::bit_cast<float>(shifted(group[i], shift) | (rest & CompactPanels::spare_bits));
    }
  }
}

/// The bits of number * 2^shift, whose exponent is that of `number` plus `shift`.
uint32_t shifted_back(uint32_t bits, uint32_t shift) {
  return (bits & magnitude_bits) == 0 ? bits : bits + (shift << mantissa_bits);
}

/// Calls body(i) for each matrix, on as many threads as they are worth.
template <class Body>
void each_matrix(const DenseMatrices& matrices, const Body& body) {
  const auto count = static_cast<int64_t>(matrices.columns.size());
  const int64_t columns = std::accumulate(matrices.columns.begin(), matrices.columns.end(), int64_t{0});
  const int64_t grain = tuning::compacted_numbers_of_thread * count / (matrices.K * columns) + 1;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(static_cast<size_t>(i));
  });
}

}  // namespace

CompactPanels::CompactPanels(DenseMatrices matrices) : matrices_(std::move(matrices)) {
  int64_t numbers = 0;
  for (const int64_t columns : matrices_.columns) {
    places_.push_back({numbers, numbers, 0});
    numbers += matrices_.K * columns;
  }
  places_.push_back({numbers, numbers, 0});
}

std::unique_ptr<const CompactPanels> CompactPanels::pack(DenseMatrices matrices) {
  if (matrices.columns.empty() || matrices.K < group_rows) return nullptr;
  std::unique_ptr<CompactPanels> panels(new CompactPanels(std::move(matrices)));
  const uint32_t least = least_exponent(panels->count_exponents());
  if (least == 0) return nullptr;
  panels->shift_ = static_cast<int>(least) - 1;
  panels->choose_groups(least);
  const Place& end = panels->places_.back();
  if (end.words > end.numbers - end.numbers / 16) return nullptr;
  each_matrix(panels->matrices_, [&](size_t i) { panels->pack_matrix(i); });
  panels->close_gaps();
  return panels;
}

CompactPanels::Exponents CompactPanels::count_exponents() const {
  std::vector<Exponents> counts(matrices_.columns.size());
  each_matrix(matrices_, [&](size_t i) {
    for (int64_t at = places_[i].numbers; at < places_[i + 1].numbers; ++at) {
      ++counts[i][(bits_of(matrices_.data[at]) & magnitude_bits) >> mantissa_bits];
    }
  });
  Exponents all{};
  for (const Exponents& of_one : counts) {
    for (size_t e = 0; e < all.size(); ++e) all[e] += of_one[e];
  }
  return all;
}

/// Sets the runs, and where matrices begin.
void CompactPanels::choose_groups(uint32_t least) {
  std::vector<std::vector<bool>> fitting(matrices_.columns.size());
  each_matrix(matrices_, [&](size_t i) {
    const int64_t size = group_rows * matrices_.columns[i];
    const float* group = matrices_.data + places_[i].numbers;
    for (int64_t g = 0; g < matrices_.K / group_rows; ++g, group += size) {
      fitting[i].push_back(fits(group, size, least));
    }
  });
  for (size_t i = 0; i < fitting.size(); ++i) {
    int64_t compact_groups = 0;
    uint32_t run = 0;
    bool compact = true;
    for (const bool fits : fitting[i]) {
      if (fits != compact) {
        runs_.push_back(std::exchange(run, 0));
        compact = fits;
      }
      ++run;
      if (fits) ++compact_groups;
    }
    runs_.push_back(run);
    if (compact) runs_.push_back(0);
    places_[i + 1].words = places_[i].words + (matrices_.K - compact_groups) * matrices_.columns[i];
    places_[i + 1].run = static_cast<int64_t>(runs_.size());
  }
}

/// Leaves the words where the numbers were. A group is copied before it changes, since it overlaps them.
void CompactPanels::pack_matrix(size_t i) const noexcept {
  const int64_t columns = matrices_.columns[i], size = group_rows * columns;
  std::array<float, group_rows * DenseMatrices::most_columns> group;
  float* to = matrices_.data + places_[i].numbers;
  const float* from = to;
  for (int64_t at = places_[i].run; at < places_[i + 1].run; at += 2) {
    for (uint32_t g = 0; g < runs_[at]; ++g, from += size, to += size - columns) {
      std::copy_n(from, size, group.begin());
      pack_group(group.data(), columns, static_cast<uint32_t>(shift_), to);
    }
    to = std::copy_n(from, runs_[at + 1] * size, to);
    from += runs_[at + 1] * size;
  }
  std::copy_n(from, matrices_.K % group_rows * columns, to);
}

void CompactPanels::close_gaps() const noexcept {
  for (size_t i = 0; i < matrices_.columns.size(); ++i) {
    std::copy_n(matrices_.data + places_[i].numbers, places_[i + 1].words - places_[i].words,
                matrices_.data + places_[i].words);
  }
}

void CompactPanels::open_gaps() const noexcept {
  for (size_t i = matrices_.columns.size(); i-- > 0;) {
    const float* words = matrices_.data + places_[i].words;
    const int64_t count = places_[i + 1].words - places_[i].words;
    std::copy_backward(words, words + count, matrices_.data + places_[i].numbers + count);
  }
}

void CompactPanels::unpack() const noexcept {
  open_gaps();
  each_matrix(matrices_, [&](size_t i) { unpack_matrix(i); });
}

/// From the end on, since numbers take more room than their words, which lie where the numbers will.
void CompactPanels::unpack_matrix(size_t i) const noexcept {
  const int64_t columns = matrices_.columns[i], size = group_rows * columns;
  std::array<float, (group_rows - 1) * DenseMatrices::most_columns> words;
  float* to = matrices_.data + places_[i + 1].numbers;
  const float* from = matrices_.data + places_[i].numbers + (places_[i + 1].words - places_[i].words);
  const auto move_dense = [&](int64_t count) {
    from -= count;
    to = std::copy_backward(from, from + count, to);
  };
  move_dense(matrices_.K % group_rows * columns);
  for (int64_t at = places_[i + 1].run; at > places_[i].run; at -= 2) {
    move_dense(runs_[at - 1] * size);
    for (uint32_t g = 0; g < runs_[at - 2]; ++g) {
      from -= size - columns;
      to -= size;
      std::copy_n(from, size - columns, words.begin());
      unpack_group(words.data(), columns, to);
    }
  }
}

void CompactPanels::unpack_group(const float* words, int64_t columns, float* group) const {
  const auto shift = static_cast<uint32_t>(shift_);
  for (int64_t column = 0; column < columns; ++column) {
    uint32_t eighth = 0;
    for (int64_t row = 0; row < group_rows - 1; ++row) {
      const uint32_t word = bits_of(words[row * columns + column]);
      group[row * columns + column] = std::bit_cast<float>(shifted_back(word & ~spare_bits, shift));
      eighth |= std::rotl(word & spare_bits, static_cast<int>(4 * (row + 1)));
    }
    group[(group_rows - 1) * columns + column] = std::bit_cast<float>(shifted_back(eighth, shift));
  }
}

}  // namespace grurun::kernels
