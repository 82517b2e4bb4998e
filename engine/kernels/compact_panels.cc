#include "engine/kernels/compact_panels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "engine/kernels/parallel.h"

namespace grurun::kernels {
namespace {

constexpr int64_t kGroup = CompactPanels::kGroupRows;
constexpr uint32_t kMagnitude = 0x7fffffff, kMantissaBits = 23;
constexpr uint32_t kBinades = 15;     // that four bits tell apart, where none of them means zero
constexpr uint32_t kMostShift = 120;  // so that x * 2^shift seldom is too large
constexpr int64_t kGrain = 1 << 16;   // numbers that are worth a thread's while

using Exponents = std::array<int64_t, 256>;  // how many numbers have each

uint32_t bits_of(float number) {
  return std::bit_cast<uint32_t>(number);
}

/// The least exponent of the fifteen in a row that most numbers have; 0 where there is none.
uint32_t least_exponent(const Exponents& count) {
  uint32_t best = 0;
  int64_t most = 0;
  for (uint32_t least = 1; least <= kMostShift + 1; ++least) {
    const auto first = count.begin() + least;
    const int64_t within = std::accumulate(first, first + kBinades, int64_t{0});
    if (within <= most) continue;
    most = within;
    best = least;
  }
  return best;
}

bool fits(const float* group, int64_t count, uint32_t least) {
  uint32_t outside = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t magnitude = bits_of(group[i]) & kMagnitude;
    const uint32_t above = (magnitude >> kMantissaBits) - least;
    outside |= static_cast<uint32_t>(magnitude != 0) & static_cast<uint32_t>(above >= kBinades);
  }
  return outside == 0;
}

/// The bits of number / 2^shift, whose exponent is that of `number` minus `shift`.
uint32_t shifted(float number, uint32_t shift) {
  const uint32_t bits = bits_of(number);
  return (bits & kMagnitude) == 0 ? bits : bits - (shift << kMantissaBits);
}

void pack_group(const float* group, int64_t columns, uint32_t shift, uint32_t* words) {
  const float* eighth = group + (kGroup - 1) * columns;
  for (int64_t row = 0; row < kGroup - 1; ++row) {
    for (int64_t i = row * columns, column = 0; column < columns; ++i, ++column) {
      const uint32_t rest = std::rotr(shifted(eighth[column], shift), static_cast<int>(4 * (row + 1)));
      words[i] = shifted(group[i], shift) | (rest & CompactPanels::kSpareBits);
    }
  }
}

}  // namespace

std::shared_ptr<const CompactPanels> CompactPanels::pack(const DenseMatrices& matrices) {
  const auto count = static_cast<int64_t>(matrices.columns.size());
  const int64_t K = matrices.K, groups = K / kGroup;
  if (count == 0 || groups == 0) return nullptr;
  std::vector<int64_t> first{0};
  for (const int64_t columns : matrices.columns) first.push_back(first.back() + K * columns);
  const int64_t matrices_a_thread = kGrain * count / first.back() + 1;

  std::vector<Exponents> counts(matrices.columns.size());
  parallel_for(count, matrices_a_thread, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Exponents& exponents = counts[static_cast<size_t>(i)];
      for (int64_t at = first[i]; at < first[i + 1]; ++at) {
        ++exponents[(bits_of(matrices.data[at]) & kMagnitude) >> kMantissaBits];
      }
    }
  });
  Exponents all{};
  for (const Exponents& of_one : counts) {
    for (size_t e = 0; e < all.size(); ++e) all[e] += of_one[e];
  }
  const uint32_t least = least_exponent(all);
  if (least == 0) return nullptr;

  // fitting[i * groups + g]: whether that group of matrix i can be compact.
  std::vector<uint8_t> fitting(static_cast<size_t>(count * groups));
  parallel_for(count, matrices_a_thread, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t size = kGroup * matrices.columns[i];
      for (int64_t g = 0; g < groups; ++g) {
        fitting[i * groups + g] = fits(matrices.data + first[i] + g * size, size, least);
      }
    }
  });

  auto packed = std::make_shared<CompactPanels>();
  int64_t words = 0;
  for (int64_t i = 0; i < count; ++i) {
    packed->places_.push_back({words, static_cast<int64_t>(packed->runs_.size())});
    uint32_t run = 0;
    bool compact = true;
    for (int64_t g = 0; g < groups; ++g) {
      if (static_cast<bool>(fitting[i * groups + g]) != compact) {
        packed->runs_.push_back(std::exchange(run, 0));
        compact = !compact;
      }
      ++run;
      words -= fitting[i * groups + g] * matrices.columns[i];
    }
    packed->runs_.push_back(run);
    if (compact) packed->runs_.push_back(0);
    words += K * matrices.columns[i];
  }
  if (words > first.back() - first.back() / 16) return nullptr;

  packed->shift_ = static_cast<int>(least) - 1;
  packed->block_ = std::make_unique<memory::Reserve>(static_cast<size_t>(words) * sizeof(uint32_t));
  auto* const out = reinterpret_cast<uint32_t*>(packed->block_->data());
  packed->words_ = out;
  parallel_for(count, matrices_a_thread, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t columns = matrices.columns[i];
      const float* from = matrices.data + first[i];
      uint32_t* to = out + packed->places_[i].word;
      for (int64_t g = 0; g < groups; ++g) {
        if (fitting[i * groups + g]) {
          pack_group(from, columns, least - 1, to);
          to += (kGroup - 1) * columns;
        } else {
          std::memcpy(to, from, static_cast<size_t>(kGroup * columns) * sizeof(float));
          to += kGroup * columns;
        }
        from += kGroup * columns;
      }
      std::memcpy(to, from, static_cast<size_t>(K % kGroup * columns) * sizeof(float));
    }
  });
  return packed;
}

}  // namespace grurun::kernels
