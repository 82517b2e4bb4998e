// The rows of one direction of a layer: when each takes a step, and where its values lie.
#pragma once

#include <cstdint>

#include "engine/ops/rnn/layer_run.h"

namespace grurun::engine::rnn {

/// Rows of a batch in the schedule's places.
struct Places {
  std::int64_t first, count;
};

/// All rows, or, of a uniform schedule, some of them, since rows have nothing to do with each other. Row k is
/// the one in place places.first + k.
struct DirectionRows {
  const LayerRun& layer;
  const std::int64_t direction;
  const Places places;
  const bool reversed = layer.attributes.reversed(direction);

  std::int64_t count() const { return places.count; }
  std::int64_t steps() const { return layer.schedule.steps(); }
  /// True when every row has a step at every time; rows are then in their own order.
  bool uniform() const { return layer.schedule.uniform(); }
  /// Rows that have a step number `step`: the first ones.
  std::int64_t active(std::int64_t step) const { return uniform() ? count() : layer.schedule.active(step); }
  std::int64_t length(std::int64_t k) const { return layer.schedule.length(places.first + k); }
  std::int64_t time(std::int64_t k, std::int64_t step) const {
    return layer.schedule.time(places.first + k, step, reversed);
  }

  /// X of row k at a time [input_size].
  template <typename T>
  const T* X(std::int64_t k, std::int64_t time) const {
    return layer.inputs[opset::input_X]->data<T>() + time * layer.x.time + row(k) * layer.x.row;
  }
  /// Elements from the beginning of this direction in Y to row k at a time, and in states to row k.
  std::int64_t offset_in_Y(std::int64_t k, std::int64_t time) const {
    return time * layer.y.time + row(k) * layer.y.row;
  }
  std::int64_t offset_in_state(std::int64_t k) const { return row(k) * layer.state.row; }

 private:
  std::int64_t row(std::int64_t k) const { return layer.schedule.row(places.first + k); }
};

}  // namespace grurun::engine::rnn
