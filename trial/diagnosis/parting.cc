#include "trial/diagnosis/parting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace grurun::trial::diagnosis {
namespace {

struct Place {
  std::int64_t number = std::numeric_limits<std::int64_t>::max();  // of the step
  std::int64_t time = 0, direction = 0, n = 0, unit = 0;
  double here = 0, wanted = 0;
  std::string gates;
};

struct Range {
  double low, high;
};

/// What a function can give.
Range range_of(const Activation& f) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (f.kind) {
    case ActivationKind::sigmoid:
    case ActivationKind::hard_sigmoid:
      return {0, 1};
    case ActivationKind::tanh:
    case ActivationKind::softsign:
      return {-1, 1};
    case ActivationKind::relu:
    case ActivationKind::softplus:
      return {0, infinity};
    default:
      return {-infinity, infinity};
  }
}

/// Which value of one gate alone would give the expected H of a unit; the other gates as they are.
class GateValues {
 public:
  GateValues(const Layer& layer, std::int64_t direction, const Step& step)
      : layer_(layer),
        step_(step),
        functions_(layer.functions.data() + static_cast<std::size_t>(direction) * layer.functions_each()) {}

  /// NaN: no value would.
  double needed(std::int64_t gate, std::int64_t k, double wanted) const {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (layer_.op == Op::rnn) value = wanted;
    if (layer_.op == Op::gru) value = gru(gate, k, wanted);
    if (layer_.op == Op::lstm) value = lstm(gate, k, wanted);
    const bool is_last =
        layer_.op == Op::gru ? gate == hidden_gate : layer_.op == Op::lstm && gate == cell_gate;
    const Range range = range_of(functions_[is_last ? 1 : 0]);
    const double slack = 1e-3;
    const bool possible = value >= range.low - slack && value <= range.high + slack && std::isfinite(value);
    return possible ? value : std::numeric_limits<double>::quiet_NaN();
  }
  double value(std::int64_t gate, std::int64_t k) const { return step_.gates[gate * layer_.hidden_size + k]; }

 private:
  double gru(std::int64_t gate, std::int64_t k, double wanted) const {
    const double z = value(update_gate, k), h = value(hidden_gate, k), H = step_.H_before[k];
    if (gate == update_gate) return (wanted - h) / (H - h);
    if (gate == hidden_gate) return (wanted - z * H) / (1 - z);
    return std::numeric_limits<double>::quiet_NaN();  // r works through h
  }

  double lstm(std::int64_t gate, std::int64_t k, double wanted) const {
    const double i = value(input_gate, k), o = value(output_gate, k), f = value(forget_gate, k),
                 c = value(cell_gate, k);
    const double C = step_.C_before[k];
    if (gate == output_gate) return o * wanted / step_.H[k];
    if (functions_[2].kind != ActivationKind::tanh || layer_.clip)
      return std::numeric_limits<double>::quiet_NaN();
    const double new_C = std::atanh(wanted / o);
    if (gate == input_gate) return (new_C - f * C) / c;
    if (gate == forget_gate) return (new_C - i * c) / C;
    return (new_C - f * C) / i;
  }

  const Layer& layer_;
  const Step& step_;
  const Activation* functions_;
};

/// "gate z alone would do it (0.71 instead of 0.62)" for the gates that could explain every unit of the step.
std::string gates_text(const Expected& expected, const Layer& layer, std::int64_t direction, const Step& step,
                       const double* wanted, std::int64_t unit) {
  const GateValues values(layer, direction, step);
  std::string out;
  for (std::int64_t gate = 0; gate < layer.gates(); ++gate) {
    bool possible = true;
    for (std::int64_t k = 0; k < layer.hidden_size && possible; ++k) {
      if (!expected.near(step.H[k], wanted[k])) possible = !std::isnan(values.needed(gate, k, wanted[k]));
    }
    if (!possible) continue;
    const char* joint = out.empty() ? "" : " or ";
    const char* through =
        layer.op == Op::gru && gate == hidden_gate && step.number > 0 ? " (or r through it)" : "";
    out += fmt::format("{}gate {}{} with {:.4g} instead of {:.4g}", joint, gate_name(layer.op, gate), through,
                       values.needed(gate, unit, wanted[unit]) + 0.0, values.value(gate, unit));
  }
  return out.empty() ? "no gate alone explains it" : out + " would explain it";
}

/// The first unit that is not near, or -1.
std::int64_t first_far(const Expected& expected, const double* here, const double* wanted,
                       std::int64_t size) {
  for (std::int64_t k = 0; k < size; ++k) {
    if (!expected.near(here == nullptr ? 0 : here[k], wanted[k])) return k;
  }
  return -1;
}

/// True when both directions have one W and one R, as where one was written twice.
bool has_weights_twice(const Layer& layer) {
  const auto twice = [](const Array& array) {
    const auto half = static_cast<std::ptrdiff_t>(array->size() / 2);
    return std::equal(array->begin(), array->begin() + half, array->begin() + half, array->end());
  };
  return layer.num_directions == 2 && twice(layer.W) && twice(layer.R);
}

std::string direction_text(const Layer& layer, std::int64_t d) {
  return fmt::format("direction {} ({})", d,
                     layer.reversed[static_cast<std::size_t>(d)] ? "backward" : "forward");
}

Place first_place(const Expected& expected, const Candidate& candidate) {
  const Layer& layer = candidate.layer;
  Place first;
  for (const std::int64_t n : expected.rows_seen(layer)) {
    const std::int64_t end = expected.steps_seen(layer.lengths[static_cast<std::size_t>(n)]);
    for (std::int64_t d = 0; d < layer.num_directions; ++d) {
      run_row(layer, d, n, [&](const Step& step) {
        if (step.number >= first.number || step.number >= end) return false;
        const double* Y = expected.Y_at(candidate, step.time, d, n);
        const std::int64_t k = first_far(expected, step.H, Y, layer.hidden_size);
        if (k < 0) return true;
        first = {step.number, step.time, d,    n,
                 k,           step.H[k], Y[k], gates_text(expected, layer, d, step, Y, k)};
        return false;
      });
    }
  }
  return first;
}

/// Y behind a row's end, which has to be 0.
std::optional<std::string> tail_text(const Expected& expected, const Candidate& candidate) {
  const Layer& layer = candidate.layer;
  for (const std::int64_t n : expected.rows_seen(layer)) {
    for (std::int64_t t = layer.lengths[static_cast<std::size_t>(n)]; t < layer.seq_length; ++t) {
      for (std::int64_t d = 0; d < layer.num_directions; ++d) {
        const double* Y = expected.Y_at(candidate, t, d, n);
        const std::int64_t k = first_far(expected, nullptr, Y, layer.hidden_size);
        if (k >= 0) {
          return fmt::format(
              "Y parts at time {}, behind the end of batch row {} (sequence_lens {}), {}, unit {}: 0 here, "
              "{:.6g} expected",
              t, n, layer.lengths[static_cast<std::size_t>(n)], direction_text(layer, d), k, Y[k]);
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> state_text(const Expected& expected, const Candidate& candidate) {
  const Layer& layer = candidate.layer;
  std::optional<std::string> out;
  for (const std::int64_t n : expected.rows_seen(layer)) {
    if (out) break;
    for (std::int64_t d = 0; d < layer.num_directions && !out; ++d) {
      const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
      const auto look = [&](std::size_t state, const double* here) {
        const double* wanted = expected.state_at(candidate, state, d, n);
        const std::int64_t k = wanted == nullptr ? -1 : first_far(expected, here, wanted, layer.hidden_size);
        if (k < 0 || out) return;
        out = fmt::format("{} parts first in {}, batch row {}, unit {}: {:.6g} here, {:.6g} expected",
                          state == 0 ? "Y_h" : "Y_c", direction_text(layer, d), n, k,
                          here == nullptr ? 0 : here[k], wanted[k]);
        if (expected.Y()) *out += "; Y agrees";
      };
      if (length == 0) look(0, nullptr), look(1, nullptr);
      run_row(layer, d, n, [&](const Step& step) {
        if (is_final(candidate, 0, n, step)) look(0, step.H);
        if (layer.op == Op::lstm && is_final(candidate, 1, n, step)) look(1, step.C);
        return step.number + 1 < expected.steps_seen(length);
      });
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> describe_parting(const Subject& subject, const Expected& expected,
                                            const Candidate& candidate) {
  const Layer& layer = subject.layer;
  if (!expected.has_shapes_of(candidate)) return "the expected shapes are not those of the node's outputs";
  if (expected.Y()) {
    const Place first = first_place(expected, candidate);
    if (first.number != std::numeric_limits<std::int64_t>::max()) {
      return fmt::format(
          "Y parts first at step {} (time {}), {}, batch row {}, unit {}: {:.6g} here, {:.6g} expected; {}",
          first.number, first.time, direction_text(layer, first.direction), first.n, first.unit, first.here,
          first.wanted,
          has_weights_twice(layer) ? "both directions have the same W and R: one may be written twice"
          : subject.fed_by.empty() ? first.gates
                                   : "X depends on " + subject.fed_by + ": the mistake may be there");
    }
    if (auto tail = tail_text(expected, candidate)) return tail;
  }
  return state_text(expected, candidate);
}

}  // namespace grurun::trial::diagnosis
