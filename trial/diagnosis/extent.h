// Which rows and steps of a layer are looked at when all of it would take too long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "trial/diagnosis/layer.h"

namespace grurun::trial::diagnosis {

/// Where a run's outputs and the expected ones are apart, by row of the batch.
struct RowDifference {
  /// The first step, in the order of computation, that is not near; the greatest number: none.
  std::int64_t first_step = std::numeric_limits<std::int64_t>::max();
  double worst = 0;

  bool none() const { return first_step == std::numeric_limits<std::int64_t>::max(); }
};

class Extent {
 public:
  Extent() = default;
  /// Some rows, and with Y their first steps as far as the first difference at least. The row that differs
  /// first comes first, then the one that differs most, then one that does not: a cause must leave it alone.
  /// differences: by row; empty where they are not known.
  Extent(const Layer& layer, bool has_Y, const std::vector<RowDifference>& differences);

  /// Rows of a layer that is the stated one, or has its batch and time exchanged.
  std::span<const std::int64_t> rows(const Layer& layer) const;
  /// How many of so many steps.
  std::int64_t steps(std::int64_t length) const { return std::min(length, most_steps_); }
  bool is_all(const Layer& layer) const;

  void look_at_all();
  /// Looks at this row of such a layer before all others, as far as this step.
  void look_at(const Layer& layer, std::int64_t row, std::int64_t step);

  /// "" when that is everything, else "2 of 32 rows and the first 40 of 500 steps".
  std::string text(const Layer& layer) const;

 private:
  void look_first(std::vector<std::int64_t>& rows, std::int64_t row);

  std::vector<std::int64_t> stated_, exchanged_;  // every row, those to be looked at first
  std::int64_t most_rows_ = 0, most_steps_ = 0;
};

}  // namespace grurun::trial::diagnosis
