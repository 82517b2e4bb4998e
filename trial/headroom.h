// The least tolerance that would let a comparison pass, and how far its elements are apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace grurun::trial {

/// An element that differs: |expected|, and |actual - expected|.
struct ElementError {
  double size = 0;
  double error = 0;
};

/// Elements that decide whether error <= atol + rtol * size holds for all, for every rtol and atol from 0:
/// the upper left part of the convex hull of (size, error). Few, however many elements there are.
class Headroom {
 public:
  /// error > 0, both finite.
  void add(double size, double error);
  /// An element that no tolerance lets pass: NaN or infinity on one side, other text, errors beyond double.
  void add_hopeless() { hopeless_ = true; }

  /// The least atol that lets all elements pass at this rtol, and the reverse; infinity where none does.
  double least_atol(double rtol) const;
  double least_rtol(double atol) const;

  bool is_hopeless() const { return hopeless_; }
  /// Ascending in size and error.
  const std::vector<ElementError>& points() const;

  static Headroom of(std::vector<ElementError> points, bool is_hopeless);

 private:
  void reduce() const;

  mutable std::vector<ElementError> points_;  // those behind reduced_ wait for the next reduction
  mutable std::size_t reduced_ = 0;
  bool hopeless_ = false;
};

/// Elements that are not equal by their distance in representable values: [k] those from 2^(k-1) to below
/// 2^k; [0] is always 0.
using UlpCounts = std::vector<std::int64_t>;

void count_ulp(UlpCounts& counts, std::uint64_t distance);

}  // namespace grurun::trial
