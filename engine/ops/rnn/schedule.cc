#include "engine/ops/rnn/schedule.h"

#include <algorithm>
#include <numeric>

namespace grurun::engine::rnn {

Schedule::Schedule(const Tensor* sequence_lens, const Dimensions& dims)
    : count_(dims.batch_size), seq_length_(dims.seq_length) {
  if (sequence_lens == nullptr) return;
  const auto given = sequence_lens->span<std::int32_t>();
  uniform_ =
      std::all_of(given.begin(), given.end(), [&](std::int64_t length) { return length == seq_length_; });
  if (uniform_) return;

  places_.emplace(static_cast<std::size_t>(checked_mul(count_, 2 * sizeof(std::int64_t))));
  auto* rows = static_cast<std::int64_t*>(places_->data());
  auto* lengths = rows + count_;
  std::iota(rows, rows + count_, std::int64_t{0});
  std::sort(rows, rows + count_, [&](std::int64_t a, std::int64_t b) {
    const std::int32_t length_a = given[static_cast<std::size_t>(a)],
                       length_b = given[static_cast<std::size_t>(b)];
    return length_a != length_b ? length_a > length_b : a < b;
  });
  std::transform(rows, rows + count_, lengths,
                 [&](std::int64_t row) { return given[static_cast<std::size_t>(row)]; });
  rows_ = rows;
  lengths_ = lengths;
}

std::int64_t Schedule::active(std::int64_t step) const {
  if (uniform_) return step < seq_length_ ? count_ : 0;
  const auto runs = [=](std::int64_t length) { return length > step; };
  return std::partition_point(lengths_, lengths_ + count_, runs) - lengths_;
}

}  // namespace grurun::engine::rnn
