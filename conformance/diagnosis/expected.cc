#include "conformance/diagnosis/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace grurun::conformance::diagnosis {
namespace {

/// Multiplications that computing all that is looked at may take: some tens of milliseconds.
constexpr double most_cost = 5e7;

struct Bounds {
  double rtol;
  double scale;  // atol for each unit of the largest expected value
};

// Some tens of units in the last place of a float: other runtimes sum in another order. 16-bit types get
// fewer units, but ones that are large.
Bounds bounds_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {1e-9, 1e-10};
    case DType::float16:
      return {4e-3, 1e-3};
    case DType::bfloat16:
      return {0.03, 0.008};
    default:
      return {1e-4, 5e-6};
  }
}

/// The tensor as it was before a Transpose; its shape must be what that Transpose made.
Tensor turned_back(const Tensor& tensor, const Exit::Turn& turn, DType dtype) {
  const std::size_t rank = turn.before.rank();
  std::vector<std::int64_t> stride(rank);  // in turn.before, by axis of the turned tensor
  std::vector<std::int64_t> stride_before(rank, 1);
  for (std::size_t i = rank; i-- > 1;) stride_before[i - 1] = stride_before[i] * turn.before[i];
  Shape shape = turn.before;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(turn.perm[i]);
    stride[i] = stride_before[axis];
    shape[i] = turn.before[axis];
  }
  const std::vector<double> from = doubles_of(tensor);
  std::vector<double> to(from.size());
  for (std::size_t flat = 0; flat < from.size(); ++flat) {
    auto rest = static_cast<std::int64_t>(flat);
    std::int64_t at = 0;
    for (std::size_t i = rank; i-- > 0; rest /= shape[i]) at += rest % shape[i] * stride[i];
    to[static_cast<std::size_t>(at)] = from[flat];
  }
  return rounded(to, turn.before, dtype);
}

/// Shape of output 0 (Y) or of a final state.
Shape shape_of(const Candidate& candidate, std::size_t output) {
  const Layer& l = candidate.layer;
  const bool batch_first = candidate.reading.arrangement == Arrangement::batch_first;
  if (output > 0) {
    return batch_first ? Shape{l.batch_size, l.num_directions, l.hidden_size}
                       : Shape{l.num_directions, l.batch_size, l.hidden_size};
  }
  switch (candidate.reading.arrangement) {
    case Arrangement::batch_first:
      return {l.batch_size, l.seq_length, l.num_directions, l.hidden_size};
    case Arrangement::batch_for_time:
      return {l.batch_size, l.num_directions, l.seq_length, l.hidden_size};
    case Arrangement::time_first:
      break;
  }
  return {l.seq_length, l.num_directions, l.batch_size, l.hidden_size};
}

std::int64_t offset_in_Y(const Candidate& candidate, std::int64_t time, std::int64_t direction,
                         std::int64_t n) {
  const auto& [layer, reading] = candidate;
  const std::int64_t D = layer.num_directions;
  if (reading.backward_in_step_order && layer.reversed[static_cast<std::size_t>(direction)]) {
    const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
    if (time < length) time = length - 1 - time;
  }
  const std::int64_t d = reading.swap_Y_directions ? D - 1 - direction : direction;
  switch (reading.arrangement) {
    case Arrangement::batch_first:
      return ((n * layer.seq_length + time) * D + d) * layer.hidden_size;
    case Arrangement::batch_for_time:
      return ((n * D + d) * layer.seq_length + time) * layer.hidden_size;
    case Arrangement::time_first:
      break;
  }
  return ((time * D + d) * layer.batch_size + n) * layer.hidden_size;
}

std::int64_t offset_in_state(const Candidate& candidate, std::int64_t direction, std::int64_t n) {
  const auto& [layer, reading] = candidate;
  const std::int64_t d = reading.swap_state_directions ? layer.num_directions - 1 - direction : direction;
  if (reading.arrangement == Arrangement::batch_first)
    return (n * layer.num_directions + d) * layer.hidden_size;
  return (d * layer.batch_size + n) * layer.hidden_size;
}

std::size_t output_of_state(const Candidate& candidate, std::size_t state) {
  return candidate.reading.exchange_states ? 2 - state : 1 + state;
}

}  // namespace

Expected::Expected(const Subject& subject, const std::vector<Value>& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::optional<Exit>& exit = subject.exits[i];
    if (!exit || !expected[exit->graph_output].is_tensor()) continue;
    Tensor tensor = expected[exit->graph_output].tensor();
    if (tensor.dtype() != subject.dtype) continue;
    for (auto turn = exit->turns.rbegin(); turn != exit->turns.rend(); ++turn) {
      if (tensor.size() == turn->before.element_count()) tensor = turned_back(tensor, *turn, subject.dtype);
    }
    const auto& layer = subject.layer;
    if (!exit->direct) {
      Candidate as_stated{layer, {}};
      if (subject.layout == 1) as_stated.reading.arrangement = Arrangement::batch_first;
      const Shape shape = shape_of(as_stated, i);
      if (tensor.size() != shape.element_count()) continue;
      tensor = tensor.reshaped(shape);
    }
    std::vector<double> values = doubles_of(tensor);
    for (const double value : values) {
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
      if (value != 0) ++informative_;
    }
    outputs_[i] = ExpectedOutput{exit->graph_output, std::move(tensor), std::move(values)};
  }
  const Bounds bounds = bounds_of(subject.dtype);
  rtol_ = bounds.rtol;
  atol_ = bounds.scale * largest;

  const Layer& layer = subject.layer;
  const double steps = most_cost / (step_cost(layer) * static_cast<double>(layer.num_directions));
  // Layouts may turn out to be exchanged: batch and time are then each other's.
  const auto longest = static_cast<double>(std::max(layer.seq_length, layer.batch_size));
  most_rows_ = static_cast<std::int64_t>(std::clamp(steps / std::max(longest, 1.0), 1.0, 1e9));
  most_steps_ = outputs_[0] ? static_cast<std::int64_t>(std::clamp(steps, 8.0, 1e9))
                            : layer.seq_length + layer.batch_size;
}

std::string Expected::extent_text(const Layer& layer) const {
  const std::int64_t rows = rows_seen(layer), steps = steps_seen(layer.seq_length);
  std::string out;
  if (rows < layer.batch_size) out = fmt::format("{} of {} rows", rows, layer.batch_size);
  if (steps < layer.seq_length) {
    out += fmt::format("{}the first {} of {} steps", out.empty() ? "" : " and ", steps, layer.seq_length);
  }
  return out;
}

bool Expected::has_shapes_of(const Candidate& candidate) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i] && !(outputs_[i]->tensor.shape() == shape_of(candidate, i))) return false;
  }
  return true;
}

const double* Expected::Y_at(const Candidate& candidate, std::int64_t time, std::int64_t direction,
                             std::int64_t n) const {
  return outputs_[0] ? outputs_[0]->values.data() + offset_in_Y(candidate, time, direction, n) : nullptr;
}

const double* Expected::state_at(const Candidate& candidate, std::size_t state, std::int64_t direction,
                                 std::int64_t n) const {
  const auto& output = outputs_[output_of_state(candidate, state)];
  return output ? output->values.data() + offset_in_state(candidate, direction, n) : nullptr;
}

std::string Expected::names(const Layer& layer) const {
  const bool to_the_end = steps_seen(layer.seq_length) == layer.seq_length;
  std::string out;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    static constexpr const char* names[] = {"Y", "Y_h", "Y_c"};
    if (!outputs_[i] || (i > 0 && !to_the_end)) continue;
    const bool last = i == 2 || !outputs_[2];
    out += (out.empty() ? "" : last ? " and " : ", ") + std::string(names[i]);
  }
  return out;
}

bool reproduces_row(const Expected& expected, const Candidate& candidate, std::int64_t direction,
                    std::int64_t n, Budget& budget) {
  const Layer& layer = candidate.layer;
  const std::int64_t H = layer.hidden_size;
  const auto all_near = [&](const double* computed, const double* wanted) {
    if (wanted == nullptr) return true;
    for (std::int64_t k = 0; k < H; ++k) {
      if (!expected.near(computed == nullptr ? 0.0 : computed[k], wanted[k])) return false;
    }
    return true;
  };
  const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
  const std::int64_t last = expected.steps_seen(length) - 1;
  for (std::int64_t time = length; time < layer.seq_length; ++time) {
    if (!all_near(nullptr, expected.Y_at(candidate, time, direction, n))) return false;
  }
  if (length == 0) {
    return all_near(nullptr, expected.state_at(candidate, 0, direction, n)) &&
           all_near(nullptr, expected.state_at(candidate, 1, direction, n));
  }
  bool good = true;
  run_row(layer, direction, n, [&](const Step& step) {
    budget.spend(step_cost(layer));
    good = all_near(step.H, expected.Y_at(candidate, step.time, direction, n));
    if (good && step.number == length - 1) {
      good = all_near(step.H, expected.state_at(candidate, 0, direction, n)) &&
             (layer.op != Op::lstm || all_near(step.C, expected.state_at(candidate, 1, direction, n)));
    }
    return good && step.number < last && !budget.is_over();
  });
  return good && !budget.is_over();
}

bool reproduces(const Expected& expected, const Candidate& candidate, Budget& budget) {
  if (!expected.has_shapes_of(candidate)) return false;
  for (std::int64_t n = 0; n < expected.rows_seen(candidate.layer); ++n) {
    for (std::int64_t d = 0; d < candidate.layer.num_directions; ++d) {
      if (!reproduces_row(expected, candidate, d, n, budget)) return false;
    }
  }
  return true;
}

std::array<Value, 3> compute_outputs(const Expected& expected, const Candidate& candidate, DType dtype) {
  const Layer& layer = candidate.layer;
  std::array<std::vector<double>, 3> values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (expected.output(i)) values[i] = expected.output(i)->values;
  }
  const std::vector<double> zeros(static_cast<std::size_t>(layer.hidden_size), 0.0);
  const auto store = [&](std::size_t output, std::int64_t offset, const double* from) {
    if (!values[output].empty()) std::copy_n(from, layer.hidden_size, values[output].begin() + offset);
  };
  for (std::int64_t d = 0; d < layer.num_directions; ++d) {
    for (std::int64_t n = 0; n < expected.rows_seen(layer); ++n) {
      const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
      for (std::int64_t t = length; t < layer.seq_length; ++t)
        store(0, offset_in_Y(candidate, t, d, n), zeros.data());
      if (length == 0) {
        store(output_of_state(candidate, 0), offset_in_state(candidate, d, n), zeros.data());
        if (layer.op == Op::lstm)
          store(output_of_state(candidate, 1), offset_in_state(candidate, d, n), zeros.data());
      }
      run_row(layer, d, n, [&](const Step& step) {
        store(0, offset_in_Y(candidate, step.time, d, n), step.H);
        if (step.number == length - 1) {
          store(output_of_state(candidate, 0), offset_in_state(candidate, d, n), step.H);
          if (layer.op == Op::lstm)
            store(output_of_state(candidate, 1), offset_in_state(candidate, d, n), step.C);
        }
        return step.number + 1 < expected.steps_seen(length);
      });
    }
  }
  std::array<Value, 3> out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (expected.output(i)) out[i] = rounded(values[i], expected.output(i)->tensor.shape(), dtype);
  }
  return out;
}

}  // namespace grurun::conformance::diagnosis
