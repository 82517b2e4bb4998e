// Hypotheses about the rows of a batch: where each ends, and where it stands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

/// By row: one more than the last time at which Y is not zero.
std::vector<std::int64_t> lengths_by_zeros(const Expected& expected, const Candidate& candidate) {
  const Layer& layer = candidate.layer;
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(layer.batch_size), 0);
  for (std::int64_t n = 0; n < layer.batch_size; ++n) {
    for (std::int64_t t = 0; t < layer.seq_length; ++t) {
      for (std::int64_t d = 0; d < layer.num_directions; ++d) {
        const double* Y = expected.Y_at(candidate, t, d, n);
        if (std::any_of(Y, Y + layer.hidden_size, [](double value) { return value != 0; })) {
          lengths[static_cast<std::size_t>(n)] = t + 1;
        }
      }
    }
  }
  return lengths;
}

/// By row: one more than the last time at which Y is not that of the time before.
std::vector<std::int64_t> lengths_by_repetition(const Expected& expected, const Candidate& candidate) {
  const Layer& layer = candidate.layer;
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(layer.batch_size), 1);
  for (std::int64_t n = 0; n < layer.batch_size; ++n) {
    for (std::int64_t t = 1; t < layer.seq_length; ++t) {
      const double* before = expected.Y_at(candidate, t - 1, 0, n);
      const double* Y = expected.Y_at(candidate, t, 0, n);
      if (!std::equal(Y, Y + layer.hidden_size, before)) lengths[static_cast<std::size_t>(n)] = t + 1;
    }
  }
  return lengths;
}

bool are_shorter(const std::vector<std::int64_t>& lengths, const Layer& layer) {
  return std::ranges::any_of(lengths, [&](std::int64_t length) { return length < layer.seq_length; });
}

/// A hypothesis with lengths of its own, which batch and time must not have been exchanged for.
void add_lengths(const char* id, const std::string& text, const std::vector<std::int64_t>& lengths,
                 const std::function<void(Candidate&)>& change, const Layer& layer,
                 std::vector<Hypothesis>& into) {
  if (!are_shorter(lengths, layer)) return;
  into.push_back({id, "lengths", text, [lengths, change, steps = layer.seq_length](Candidate& c) {
                    if (c.layer.batch_size != static_cast<std::int64_t>(lengths.size()) ||
                        c.layer.seq_length != steps)
                      return false;
                    c.layer.lengths = lengths;
                    change(c);
                    return true;
                  }});
}

/// Keras's masking gives the last Y of a row again where ONNX has zeros; a backward direction has not begun
/// there.
void add_held(const Subject& subject, const Expected& expected, std::vector<Hypothesis>& into) {
  const Candidate stated = as_stated(subject);
  const Layer& layer = subject.layer;
  if (layer.reversed[0] || layer.seq_length == 0 || !expected.has_shapes_of(stated)) return;
  const auto lengths = subject.has_sequence_lens ? layer.lengths : lengths_by_repetition(expected, stated);
  const std::string text = fmt::format(
      "Y repeating its last value behind each row's end, as Keras's masking gives it; "
      "sequence_lens = [{}]: {}",
      lengths_text(lengths), subject.has_sequence_lens ? "ONNX has zeros there" : "the model has none");
  add_lengths(
      "Y-held", text, lengths, [](Candidate& c) { c.reading.Y_is_held = true; }, layer, into);
}

/// By row: the times behind those at the beginning in which no direction of Y has begun, or all have ended.
std::vector<std::int64_t> lengths_by_begin_of_Y(const Expected& expected, const Candidate& candidate) {
  const Layer& layer = candidate.layer;
  const auto is_padding = [&](std::int64_t t, std::int64_t n) {
    for (std::int64_t d = 0; d < layer.num_directions; ++d) {
      const double* Y = expected.Y_at(candidate, t, d, n);
      const double* next = is_held(candidate, d) ? expected.Y_at(candidate, t + 1, d, n) : nullptr;
      for (std::int64_t k = 0; k < layer.hidden_size; ++k) {
        if (Y[k] != (next != nullptr ? next[k] : 0)) return false;
      }
    }
    return true;
  };
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n < layer.batch_size; ++n) {
    std::int64_t begin = 0;
    while (begin + 1 < layer.seq_length && is_padding(begin, n)) ++begin;
    lengths.push_back(layer.seq_length - begin);
  }
  return lengths;
}

/// By row: the times behind those at the beginning in which X holds what the most padded row begins with.
std::vector<std::int64_t> lengths_by_begin_of_X(const Layer& layer) {
  const auto X_at = [&](std::int64_t t, std::int64_t n) {
    return std::span(*layer.X).subspan(
        static_cast<std::size_t>((t * layer.batch_size + n) * layer.input_size),
        static_cast<std::size_t>(layer.input_size));
  };
  const auto begin_with = [&](std::span<const double> padding, std::int64_t n) {
    std::int64_t t = 0;
    while (t < layer.seq_length && std::ranges::equal(X_at(t, n), padding)) ++t;
    return t;
  };
  std::int64_t most_padded = 0, most = 0;
  for (std::int64_t n = 0; n < layer.batch_size; ++n) {
    const std::int64_t count = begin_with(X_at(0, n), n);
    if (count > most) most = count, most_padded = n;
  }
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n < layer.batch_size; ++n)
    lengths.push_back(layer.seq_length - begin_with(X_at(0, most_padded), n));
  return lengths;
}

/// Each row's steps as X has them behind the padding.
void move_steps_to_begin(Layer& layer) {
  std::vector<double> X(layer.X->size(), 0.0);
  for (std::int64_t n = 0; n < layer.batch_size; ++n) {
    const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)], begin = layer.seq_length - length;
    for (std::int64_t t = 0; t < length; ++t) {
      std::copy_n(layer.X->begin() + ((begin + t) * layer.batch_size + n) * layer.input_size,
                  layer.input_size, X.begin() + (t * layer.batch_size + n) * layer.input_size);
    }
  }
  layer.X = make_array(std::move(X));
}

/// Keras's pad_sequences puts the padding before the steps. Masked, the backward direction ends with it, and
/// repeats its last value there.
void add_padding_first(const Subject& subject, const Expected& expected, std::vector<Hypothesis>& into) {
  const Layer& layer = subject.layer;
  Candidate read = as_stated(subject);
  if (layer.seq_length == 0 || layer.input_size == 0 || !expected.has_shapes_of(read)) return;
  read.reading.padding_first = true;
  const bool has_backward = layer.num_directions == 2 || layer.reversed[0];
  const bool given = are_shorter(layer.lengths, layer);
  for (const bool held : {false, true}) {
    if (held && !(has_backward && expected.Y())) continue;
    read.reading.Y_is_held = held;
    const auto lengths = given          ? layer.lengths
                         : expected.Y() ? lengths_by_begin_of_Y(expected, read)
                                        : lengths_by_begin_of_X(layer);
    const std::string text = fmt::format(
        "padding before each row's steps, as Keras puts it{}; sequence_lens = [{}]: {}",
        held ? " (backward, Y repeats its last value there)" : "", lengths_text(lengths),
        given ? "ONNX counts them from time 0" : "the model has none, and ONNX would have it behind them");
    add_lengths(
        "padding-first", text, lengths,
        [held](Candidate& c) {
          c.reading.padding_first = true;
          c.reading.Y_is_held = held;
          move_steps_to_begin(c.layer);
        },
        layer, into);
  }
}

/// Where each row of X stands in the expected Y, by what its first step gives; empty where that is not one
/// row each, or all are in their place.
std::vector<std::int64_t> rows_by_first_step(const Expected& expected, const Candidate& candidate) {
  constexpr std::int64_t most_rows = 1024;
  const Layer& layer = candidate.layer;
  if (layer.batch_size > most_rows) return {};
  std::vector<std::int64_t> rows;
  std::vector<bool> taken(static_cast<std::size_t>(layer.batch_size), false);
  for (std::int64_t n = 0; n < layer.batch_size; ++n) {
    std::int64_t found = -1;
    run_row(layer, 0, n, [&](const Step& step) {
      for (std::int64_t row = 0; row < layer.batch_size && found < 0; ++row) {
        const double* Y = expected.Y_at(candidate, step.time, 0, row);
        const bool same = std::equal(step.H, step.H + layer.hidden_size, Y,
                                     [&](double here, double wanted) { return expected.near(here, wanted); });
        if (same && !taken[static_cast<std::size_t>(row)]) found = row;
      }
      return false;
    });
    if (found < 0) return {};
    taken[static_cast<std::size_t>(found)] = true;
    rows.push_back(found);
  }
  return std::ranges::is_sorted(rows) ? std::vector<std::int64_t>() : rows;
}

/// Lengths would tell rows apart by more than what they hold.
void add_rows(const Subject& subject, const Expected& expected, std::vector<Hypothesis>& into) {
  const Candidate stated = as_stated(subject);
  if (subject.has_sequence_lens || !expected.has_shapes_of(stated)) return;
  const std::vector<std::int64_t> rows = rows_by_first_step(expected, stated);
  if (rows.empty()) return;
  into.push_back(
      {"rows-permuted", "rows",
       fmt::format("the rows of the batch in another order: those of X stand at [{}] in the outputs",
                   lengths_text(rows)),
       [rows](Candidate& c) {
         c.reading.rows = rows;
         return c.layer.batch_size == static_cast<std::int64_t>(rows.size());
       }});
}

}  // namespace

std::string lengths_text(const std::vector<std::int64_t>& lengths) {
  constexpr std::size_t most = 16;
  const std::span some = std::span(lengths).first(std::min(lengths.size(), most));
  return fmt::format("{}{}", fmt::join(some, ", "), lengths.size() > most ? ", ..." : "");
}

void add_length_hypotheses(const Subject& subject, const Expected& expected, std::vector<Hypothesis>& into) {
  if (subject.has_sequence_lens) {
    into.push_back({"sequence-lens-ignored", "lengths", "sequence_lens left out: every row runs to the end",
                    [](Candidate& c) {
                      std::ranges::fill(c.layer.lengths, c.layer.seq_length);
                      return true;
                    }});
  }
  add_padding_first(subject, expected, into);
  if (!expected.Y()) return;
  add_rows(subject, expected, into);
  add_held(subject, expected, into);
  const Candidate stated = as_stated(subject);
  if (!expected.has_shapes_of(stated)) return;
  const std::vector<std::int64_t> lengths = lengths_by_zeros(expected, stated);
  const std::string text = fmt::format(
      "sequence_lens = [{}], by the zeros at the end of Y: the model {}", lengths_text(lengths),
      subject.has_sequence_lens ? fmt::format("is given [{}]", lengths_text(subject.layer.lengths))
                                : "has none");
  into.push_back({"sequence-lens-missing", "lengths", text, [&expected](Candidate& c) {
                    if (!expected.has_shapes_of(c)) return false;
                    std::vector<std::int64_t> found = lengths_by_zeros(expected, c);
                    if (found == c.layer.lengths) return false;
                    c.layer.lengths = std::move(found);
                    return true;
                  }});
}

}  // namespace grurun::trial::diagnosis
