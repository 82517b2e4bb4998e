// Hypotheses about the rows of a batch: where each ends, and where it stands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "conformance/diagnosis/hypotheses.h"

namespace grurun::conformance::diagnosis {
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

/// Keras's masking gives the last Y of a row again where ONNX has zeros. Of one forward direction only: what
/// a backward one gives there is its own matter.
void add_held(const Subject& subject, const Expected& expected, std::vector<Hypothesis>& into) {
  const Candidate stated = as_stated(subject);
  const Layer& layer = subject.layer;
  if (layer.num_directions != 1 || layer.reversed[0] || layer.seq_length == 0 ||
      !expected.has_shapes_of(stated))
    return;
  const auto lengths = subject.has_sequence_lens ? layer.lengths : lengths_by_repetition(expected, stated);
  if (std::ranges::all_of(lengths, [&](std::int64_t length) { return length == layer.seq_length; })) return;
  into.push_back(
      {"Y-held", "lengths",
       fmt::format("Y repeating its last value behind each row's end, as Keras's masking gives it; "
                   "sequence_lens = [{}]: {}",
                   lengths_text(lengths),
                   subject.has_sequence_lens ? "ONNX has zeros there" : "the model has none"),
       [lengths, steps = layer.seq_length](Candidate& c) {
         if (c.layer.batch_size != static_cast<std::int64_t>(lengths.size()) || c.layer.seq_length != steps)
           return false;  // batch and time were exchanged
         c.layer.lengths = lengths;
         c.reading.Y_is_held = true;
         return true;
       }});
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

}  // namespace grurun::conformance::diagnosis
