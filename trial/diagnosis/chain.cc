#include "trial/diagnosis/chain.h"

#include <algorithm>

namespace grurun::trial::diagnosis {
namespace {

/// Those that change how outputs are read, or the sizes, say nothing of a layer whose Y nobody sees.
bool is_of_the_layer(const Hypothesis& hypothesis) {
  static constexpr const char* others[] = {"Y order", "output directions", "final", "layout", "lengths"};
  return std::ranges::find(others, hypothesis.family) == std::end(others);
}

/// Y as the node gives it, in the order of its layout, rounded as there.
std::vector<double> Y_of(const Subject& subject, const Layer& layer, Budget& budget) {
  const auto [T, N, D, H] =
      std::tuple(layer.seq_length, layer.batch_size, layer.num_directions, layer.hidden_size);
  std::vector<double> Y(static_cast<std::size_t>(T * N * D * H), 0.0);
  for (std::int64_t d = 0; d < D; ++d) {
    for (std::int64_t n = 0; n < N; ++n) {
      run_row(layer, d, n, [&, N = N, T = T, D = D, H = H](const Step& step) {
        budget.spend(step_cost(layer));
        const std::int64_t at =
            subject.layout == 1 ? (n * T + step.time) * D + d : (step.time * D + d) * N + n;
        std::copy_n(step.H, H, Y.begin() + at * H);
        return !budget.is_over();
      });
    }
  }
  return doubles_of(rounded(Y, Shape{static_cast<std::int64_t>(Y.size())}, subject.dtype));
}

std::vector<double> transposed(const std::vector<double>& from, const GraphOutput::Turn& turn) {
  const std::size_t rank = turn.before.rank();
  std::vector<std::int64_t> stride(rank, 1);
  for (std::size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * turn.before[i];
  std::vector<double> to(from.size());
  for (std::size_t flat = 0; flat < to.size(); ++flat) {
    auto rest = static_cast<std::int64_t>(flat);
    std::int64_t at = 0;
    for (std::size_t i = rank; i-- > 0;) {
      const auto axis = static_cast<std::size_t>(turn.perm[i]);
      at += rest % turn.before[axis] * stride[axis];
      rest /= turn.before[axis];
    }
    to[flat] = from[static_cast<std::size_t>(at)];
  }
  return to;
}

}  // namespace

Chain::Chain(const Subject& top) {
  for (const Subject* above = &top; above->below != nullptr; above = &above->below->subject) {
    const Subject& subject = above->below->subject;
    std::vector<Hypothesis> own;
    add_bias_hypotheses(subject, own);
    add_weight_hypotheses(subject, own);
    add_sequence_hypotheses(subject, own);
    add_function_hypotheses(subject, own);
    links_.insert(links_.begin(), Link{above->below.get(), above, std::move(own)});
  }
}

std::string Chain::text(std::optional<std::size_t> only) const {
  if (only) return links_[*only].below->subject.label;
  std::string out;
  for (auto link = links_.rbegin(); link != links_.rend(); ++link)
    out += (out.empty() ? "" : " and ") + link->below->subject.label;
  return out;
}

Array Chain::X_with(const Hypothesis& hypothesis, std::optional<std::size_t> only, Budget& budget) const {
  if (!is_of_the_layer(hypothesis)) return nullptr;
  Array X;
  for (std::size_t i = only.value_or(0); i < links_.size(); ++i) {
    const auto& [below, above, hypotheses] = links_[i];
    const Subject& subject = below->subject;
    Candidate c{subject.layer, {}};
    if (X) c.layer.X = X;
    if (!only || i == *only) {
      const auto same = std::ranges::find_if(hypotheses, [&](const Hypothesis& own) {
        return own.id == hypothesis.id && own.text == hypothesis.text;
      });
      if (same == hypotheses.end() || !same->apply(c) || c.reading.backward_in_step_order) return nullptr;
    }
    std::vector<double> Y = Y_of(subject, c.layer, budget);
    if (budget.is_over()) return nullptr;
    for (const GraphOutput::Turn& turn : below->turns) {
      if (static_cast<std::int64_t>(Y.size()) != turn.before.element_count()) return nullptr;
      Y = transposed(Y, turn);
    }
    const Layer& next = above->layer;
    if (Y.size() != next.X->size()) return nullptr;
    X = make_array(std::move(Y));
    if (above->layout == 1) X = swap_leading(X, next.batch_size, next.seq_length);
  }
  return X;
}

}  // namespace grurun::trial::diagnosis
