// Which rows of a batch take part in which step.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/ops/rnn/layer_inputs.h"
#include "tensor/memory/memory.h"
#include "tensor/tensor.h"

namespace grurun::engine::rnn {

/// The rows of a batch by falling length, so that the rows that are still running at a step are the first
/// ones: no step computes, and nothing reads, what lies beyond a row's length.
class Schedule {
 public:
  /// sequence_lens as check_inputs passed it; nullptr: every row has seq_length steps.
  Schedule(const Tensor* sequence_lens, const Dimensions& dims);

  /// True when every row has seq_length steps; rows are then in their own order.
  bool uniform() const { return uniform_; }

  /// The longest length.
  std::int64_t steps() const { return count_ == 0 ? 0 : length(0); }

  /// Row of the batch in place k, and its length.
  std::int64_t row(std::int64_t k) const { return uniform_ ? k : rows_[k]; }
  std::int64_t length(std::int64_t k) const { return uniform_ ? seq_length_ : lengths_[k]; }

  /// Rows that have a step number `step`, from 0.
  std::int64_t active(std::int64_t step) const;

  /// Where in time place k is at its step; in reverse each row begins at its own last valid step.
  std::int64_t time(std::int64_t k, std::int64_t step, bool reversed) const {
    return reversed ? length(k) - 1 - step : step;
  }

 private:
  bool uniform_ = true;
  std::int64_t count_;
  std::int64_t seq_length_;
  std::optional<memory::Block> places_;    // of what follows, not for a uniform batch
  const std::int64_t* rows_ = nullptr;     // by place
  const std::int64_t* lengths_ = nullptr;  // by place
};

}  // namespace grurun::engine::rnn
