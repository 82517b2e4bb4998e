// Products of filters and planes of bytes, where four of them are multiplied and added up at once: what
// convolutions of 8-bit integers are made of.
#pragma once

#include <cstdint>
#include <span>

#include "engine/kernels/vec/vec_quantize.h"
#include "tensor/memory/scratch.h"

namespace grurun::kernels {

/// Numbers of a term: what one place has of four channels.
constexpr int64_t plane_term = 4;
/// Places of a block, which products are formed with at once.
constexpr int64_t plane_block = 64;

/// Filters as lists of terms, in blocks of at most six of them.
class PlaneFilters {
 public:
  /// number(m, term, i): number i of a term of filter m, as int8.
  template <class Number>
  PlaneFilters(int64_t filters, int64_t terms, const Number& number) : filters_(filters), terms_(terms) {
    w_.reserve(static_cast<size_t>(filters * terms * plane_term));
    sums_.assign(static_cast<size_t>(filters), 0);
    for (int64_t first = 0; first < filters; first += block) {
      for (int64_t t = 0; t < terms; ++t) {
        for (int64_t m = first; m < filters && m < first + block; ++m) {
          for (int64_t i = 0; i < plane_term; ++i) {
            w_.push_back(number(m, t, i));
            sums_[static_cast<size_t>(m)] += w_.back();
          }
        }
      }
    }
  }

  static constexpr int64_t block = 6;

  int64_t filters() const { return filters_; }
  int64_t terms() const { return terms_; }
  /// [terms, filters of the block, plane_term], of the block that begins with filter m.
  const int8_t* of_block(int64_t m) const { return w_.data() + m * terms_ * plane_term; }
  /// What the numbers of each filter add up to.
  const int32_t* sums() const { return sums_.data(); }

 private:
  int64_t filters_, terms_;
  ScratchVector<int8_t> w_;
  ScratchVector<int32_t> sums_;
};

/// Filters [first, end) times places: place i has the numbers of term t at x + offsets[t] + i * plane_term.
struct PlaneProduct {
  const PlaneFilters& filters;
  int64_t first, end;     // the first is that of a block, as the last is, or else the last of all
  const int32_t* starts;  // what the sums of each of all filters begin with
  const uint8_t* x;
  std::span<const int64_t> offsets;
};

/// sums [end - first, plane_block]: starts[m] + the products of filter m and place i, modulo 2^32, for i in
/// [0, n) and some more; n is at most plane_block, and all of a block may be read. Only where
/// multiplies_bytes() (simd.h) says so. Runs on the calling thread.
void multiply_planes(const PlaneProduct& p, int64_t n, int32_t* sums);

/// The same, requantized: y [end - first, plane_block]; by.nearest has one for each of all filters. Where
/// float may have rounded to the wrong byte, the sums of the filter are written to its row of `sums`, and the
/// number of that row to `unsure`; how many these are is returned.
int64_t multiply_planes(const PlaneProduct& p, int64_t n, const Requantization& by, uint8_t* y, int32_t* sums,
                        int32_t* unsure);

/// to[4 * i + j] = from[j][i] ^ flip for i in [0, n), j < 4. `to` must not overlap any of `from`.
void interleave_bytes(const uint8_t* const (&from)[plane_term], int64_t n, uint8_t flip, uint8_t* to);

}  // namespace grurun::kernels
