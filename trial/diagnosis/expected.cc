#include "trial/diagnosis/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace grurun::trial::diagnosis {
namespace {

/// The tensor as it was before a Transpose; its shape must be what that Transpose made.
Tensor turned_back(const Tensor& tensor, const GraphOutput::Turn& turn, DType dtype) {
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

Axes axes_of(const Reading& reading) {
  return reading.Y_at_its_exit.value_or(axes_of_Y(reading.arrangement));
}

std::int64_t size_of(const Layer& layer, Axis axis) {
  return axis == Axis::time    ? layer.seq_length
         : axis == Axis::batch ? layer.batch_size
                               : layer.num_directions;
}

/// Shape of output 0 (Y) or of a final state.
Shape shape_of(const Candidate& candidate, std::size_t output) {
  const Layer& l = candidate.layer;
  const bool batch_first = candidate.reading.arrangement == Arrangement::batch_first;
  if (output > 0) {
    return batch_first ? Shape{l.batch_size, l.num_directions, l.hidden_size}
                       : Shape{l.num_directions, l.batch_size, l.hidden_size};
  }
  const Axes axes = axes_of(candidate.reading);
  return {size_of(l, axes[0]), size_of(l, axes[1]), size_of(l, axes[2]), l.hidden_size};
}

std::int64_t row_in_outputs(const Reading& reading, std::int64_t n) {
  return reading.rows.empty() ? n : reading.rows[static_cast<std::size_t>(n)];
}

std::int64_t offset_in_Y(const Candidate& candidate, std::int64_t time, std::int64_t direction,
                         std::int64_t n) {
  const auto& [layer, reading] = candidate;
  const std::int64_t row = row_in_outputs(reading, n);
  if (reading.backward_in_step_order && layer.reversed[static_cast<std::size_t>(direction)]) {
    const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
    if (time < length) time = length - 1 - time;
  }
  if (reading.padding_first && layer.seq_length > 0)
    time = (time + layer.seq_length - layer.lengths[static_cast<std::size_t>(n)]) % layer.seq_length;
  const std::int64_t d = reading.swap_Y_directions ? layer.num_directions - 1 - direction : direction;
  std::int64_t at = 0;
  for (const Axis axis : axes_of(reading)) {
    at = at * size_of(layer, axis) + (axis == Axis::time ? time : axis == Axis::batch ? row : d);
  }
  return at * layer.hidden_size;
}

std::int64_t offset_in_state(const Candidate& candidate, std::int64_t direction, std::int64_t n) {
  const auto& [layer, reading] = candidate;
  const std::int64_t d = reading.swap_state_directions ? layer.num_directions - 1 - direction : direction;
  const std::int64_t row = row_in_outputs(reading, n);
  if (reading.arrangement == Arrangement::batch_first)
    return (row * layer.num_directions + d) * layer.hidden_size;
  return (d * layer.batch_size + row) * layer.hidden_size;
}

std::size_t output_of_state(const Candidate& candidate, std::size_t state) {
  return candidate.reading.exchange_states ? 2 - state : 1 + state;
}

/// What a Transpose was given where it gave this shape, which need not be that of the run: batch and time may
/// be exchanged. nullopt where nothing tells.
std::optional<Shape> shape_before(const GraphOutput::Turn& turn, const Tensor& after) {
  const std::size_t rank = turn.before.rank();
  if (after.rank() == rank) {
    Shape before = turn.before;
    for (std::size_t i = 0; i < rank; ++i) before[static_cast<std::size_t>(turn.perm[i])] = after.dim(i);
    return before;
  }
  return after.size() == turn.before.element_count() ? std::optional(turn.before) : std::nullopt;
}

/// A graph's output as the node gave it, but for its shape where it does not come out directly; nullopt where
/// it is none.
std::optional<Tensor> node_output(const Subject& subject, std::size_t output, const Value& value) {
  const GraphOutput& exit = *subject.graph_outputs[output];
  if (!value.is_tensor() || value.tensor().dtype() != subject.dtype) return std::nullopt;
  Tensor tensor = value.tensor();
  if (!exit.elements.empty()) {
    if (static_cast<std::size_t>(tensor.size()) != exit.elements.size()) return std::nullopt;
    const std::vector<double> from = doubles_of(tensor);
    std::vector<double> to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[static_cast<std::size_t>(exit.elements[i])] = from[i];
    return rounded(to, exit.source_shape, subject.dtype);
  }
  for (auto turn = exit.turns.rbegin(); turn != exit.turns.rend(); ++turn) {
    const std::optional<Shape> before = shape_before(*turn, tensor);
    if (!before) return std::nullopt;
    tensor = turned_back(tensor, {*before, turn->perm}, subject.dtype);
  }
  return tensor;
}

}  // namespace

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

Candidate as_stated(const Subject& subject) {
  Candidate out{subject.layer, {}};
  if (subject.layout == 1) out.reading.arrangement = Arrangement::batch_first;
  out.reading.final_at[0] = subject.Y_h_at;
  return out;
}

Axes axes_of_Y(Arrangement arrangement) {
  switch (arrangement) {
    case Arrangement::batch_first:
      return {Axis::batch, Axis::time, Axis::direction};
    case Arrangement::batch_for_time:
      return {Axis::batch, Axis::direction, Axis::time};
    case Arrangement::time_first:
      break;
  }
  return {Axis::time, Axis::direction, Axis::batch};
}

bool is_final(const Candidate& candidate, std::size_t state, std::int64_t n, const Step& step) {
  if (has_no_final(candidate, state, n)) return false;
  const FinalAt at = candidate.reading.final_at[state];
  if (at == FinalAt::first_time) return step.time == 0;
  const std::int64_t last = candidate.layer.lengths[static_cast<std::size_t>(n)] - 1;
  return (at == FinalAt::last_step ? step.number : step.time) == last;
}

bool is_held(const Candidate& candidate, std::int64_t direction) {
  const bool reversed = candidate.layer.reversed[static_cast<std::size_t>(direction)];
  return candidate.reading.Y_is_held && reversed == candidate.reading.padding_first;
}

bool has_no_final(const Candidate& candidate, std::size_t state, std::int64_t n) {
  const std::int64_t length = candidate.layer.lengths[static_cast<std::size_t>(n)];
  const bool of_Y = candidate.reading.final_at[state] == FinalAt::last_time;
  return length == 0 || (of_Y && length < candidate.layer.seq_length);
}

Expected::Expected(const Subject& subject, const std::vector<Value>& expected,
                   const std::vector<Value>& actual) {
  double largest = 0;
  std::array<std::vector<double>, 3> given;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!subject.graph_outputs[i]) continue;
    const std::size_t at = subject.graph_outputs[i]->graph_output;
    std::optional<Tensor> tensor = node_output(subject, i, expected[at]);
    if (!tensor) continue;
    std::vector<double> values = doubles_of(*tensor);
    for (const double value : values) {
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    }
    const Tensor& at_exit = expected[at].tensor();
    const bool direct = subject.graph_outputs[i]->direct;
    const bool same_shape = actual[at].is_tensor() && actual[at].tensor().shape() == at_exit.shape();
    outputs_[i] = ExpectedOutput{at, std::move(*tensor), std::move(values), direct, same_shape, {}};
    if (i == 0 && !direct) outputs_[i]->at_exit = doubles_of(at_exit);
    if (const auto ours = node_output(subject, i, actual[at])) given[i] = doubles_of(*ours);
  }
  const Bounds bounds = bounds_of(subject.dtype);
  rtol_ = bounds.rtol;
  atol_ = bounds.scale * largest;
  extent_ = Extent(subject.layer, outputs_[0].has_value(), differences(as_stated(subject), given));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i] || given[i].size() != outputs_[i]->values.size()) continue;
    for (std::size_t k = 0; k < given[i].size(); ++k)
      gap_ = std::max(gap_, std::fabs(given[i][k] - outputs_[i]->values[k]));
  }
  gap_ = largest > 0 ? gap_ / largest : 0;
}

std::vector<RowDifference> Expected::differences(const Candidate& stated,
                                                 const std::array<std::vector<double>, 3>& given) const {
  const Layer& layer = stated.layer;
  if (!has_shapes_of(stated)) return {};
  std::vector<RowDifference> out(static_cast<std::size_t>(layer.batch_size));
  const auto look = [&](std::int64_t n, std::size_t i, std::int64_t offset, std::int64_t step) {
    if (!outputs_[i] || given[i].size() != outputs_[i]->values.size()) return;
    RowDifference& row = out[static_cast<std::size_t>(n)];
    for (auto k = static_cast<std::size_t>(offset); k < static_cast<std::size_t>(offset + layer.hidden_size);
         ++k) {
      const double wanted = outputs_[i]->values[k];
      if (near(given[i][k], wanted)) continue;
      row.first_step = std::min(row.first_step, step);
      row.worst = std::max(row.worst, std::fabs(given[i][k] - wanted));
    }
  };
  for (std::int64_t n = 0; n < layer.batch_size; ++n) {
    const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
    for (std::int64_t d = 0; d < layer.num_directions; ++d) {
      const bool reversed = layer.reversed[static_cast<std::size_t>(d)];
      for (std::int64_t t = 0; t < layer.seq_length; ++t) {
        // What lies behind a row's end is looked at whatever the steps are.
        const std::int64_t step = t >= length ? 0 : reversed ? length - 1 - t : t;
        look(n, 0, offset_in_Y(stated, t, d, n), step);
      }
      for (const std::size_t state : {1, 2})
        look(n, state, offset_in_state(stated, d, n), std::max<std::int64_t>(length - 1, 0));
    }
  }
  return out;
}

bool Expected::has_shapes_of(const Candidate& candidate) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i]) continue;
    const Shape shape = shape_of(candidate, i);
    const bool fits = outputs_[i]->direct ? outputs_[i]->tensor.shape() == shape
                                          : outputs_[i]->tensor.size() == shape.element_count();
    if (!fits) return false;
  }
  return true;
}

const double* Expected::Y_at(const Candidate& candidate, std::int64_t time, std::int64_t direction,
                             std::int64_t n) const {
  if (!outputs_[0]) return nullptr;
  const auto& values = candidate.reading.Y_at_its_exit ? outputs_[0]->at_exit : outputs_[0]->values;
  return values.data() + offset_in_Y(candidate, time, direction, n);
}

const double* Expected::state_at(const Candidate& candidate, std::size_t state, std::int64_t direction,
                                 std::int64_t n) const {
  const auto& output = outputs_[output_of_state(candidate, state)];
  return output ? output->values.data() + offset_in_state(candidate, direction, n) : nullptr;
}

Tensor Expected::as_read(const Candidate& candidate, std::size_t index) const {
  const ExpectedOutput& output = *outputs_[index];
  if (index > 0 || !candidate.reading.Y_at_its_exit) return output.tensor;
  return rounded(output.at_exit, output.tensor.shape(), output.tensor.dtype());
}

bool Expected::has_shapes_of_run() const {
  return std::ranges::all_of(outputs_,
                             [](const auto& output) { return !output || output->has_shape_of_run; });
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

std::array<Value, 3> compute_outputs(const Expected& expected, const Candidate& candidate, DType dtype) {
  const Layer& layer = candidate.layer;
  std::array<std::vector<double>, 3> values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (expected.output(i)) values[i] = expected.output(i)->values;
  }
  if (candidate.reading.Y_at_its_exit) values[0] = expected.Y()->at_exit;
  const std::vector<double> zeros(static_cast<std::size_t>(layer.hidden_size), 0.0);
  const auto store = [&](std::size_t output, std::int64_t offset, const double* from) {
    if (!values[output].empty()) std::copy_n(from, layer.hidden_size, values[output].begin() + offset);
  };
  for (std::int64_t d = 0; d < layer.num_directions; ++d) {
    for (const std::int64_t n : expected.rows_seen(layer)) {
      const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
      const auto store_behind_end = [&](const double* H) {
        for (std::int64_t t = length; t < layer.seq_length; ++t) store(0, offset_in_Y(candidate, t, d, n), H);
      };
      store_behind_end(zeros.data());
      const auto store_state = [&](std::size_t state, const double* from) {
        store(output_of_state(candidate, state), offset_in_state(candidate, d, n), from);
      };
      const std::size_t states = layer.op == Op::lstm ? 2 : 1;
      for (std::size_t state = 0; state < states; ++state) {
        if (has_no_final(candidate, state, n)) store_state(state, zeros.data());
      }
      run_row(layer, d, n, [&](const Step& step) {
        store(0, offset_in_Y(candidate, step.time, d, n), step.H);
        if (step.number == length - 1 && is_held(candidate, d)) store_behind_end(step.H);
        for (std::size_t state = 0; state < states; ++state) {
          if (is_final(candidate, state, n, step)) store_state(state, state == 0 ? step.H : step.C);
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

}  // namespace grurun::trial::diagnosis
