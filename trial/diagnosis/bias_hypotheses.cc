// Hypotheses about B, linear_before_reset and input_forget.
#include <algorithm>

#include "trial/diagnosis/attempt.h"
#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

/// B of each direction read as Wb and Rb of one gate after the other.
bool split_by_gate(Layer& layer) {
  if (!layer.Wb || layer.gates() == 1) return false;
  const std::int64_t H = layer.hidden_size, rows = layer.rows();
  std::vector<double> Wb(layer.Wb->size()), Rb(layer.Rb->size());
  for (std::int64_t d = 0; d < layer.num_directions; ++d) {
    std::vector<double> both(layer.Wb->begin() + d * rows, layer.Wb->begin() + (d + 1) * rows);
    both.insert(both.end(), layer.Rb->begin() + d * rows, layer.Rb->begin() + (d + 1) * rows);
    for (std::int64_t gate = 0; gate < layer.gates(); ++gate) {
      std::copy_n(both.begin() + 2 * gate * H, H, Wb.begin() + d * rows + gate * H);
      std::copy_n(both.begin() + (2 * gate + 1) * H, H, Rb.begin() + d * rows + gate * H);
    }
  }
  layer.Wb = make_array(std::move(Wb));
  layer.Rb = make_array(std::move(Rb));
  return true;
}

}  // namespace

void add_bias_hypotheses(const Subject& subject, std::vector<Hypothesis>& into) {
  const Layer& layer = subject.layer;
  const auto add = [&](const char* id, const char* family, const char* text, auto change) {
    into.push_back({id, family, text, [change](Candidate& c) {
                      change(c.layer);
                      return true;
                    }});
  };
  if (layer.op == Op::gru) {
    add("linear-before-reset", "reset",
        layer.linear_before_reset ? "linear_before_reset = 0: the model has 1"
                                  : "linear_before_reset = 1: the model has 0",
        [](Layer& l) { l.linear_before_reset = !l.linear_before_reset; });
  }
  if (layer.op == Op::lstm) {
    add("input-forget", "input_forget",
        layer.input_forget ? "input_forget = 0: the model has 1" : "input_forget = 1: the model has 0",
        [](Layer& l) { l.input_forget = !l.input_forget; });
  }
  if (!is_zero(layer.Rb)) {
    add("Rb-ignored", "bias", "Rb left out: the source has one bias, the model two",
        [](Layer& l) { l.Rb = nullptr; });
  }
  if (!is_zero(layer.Wb)) {
    add("Wb-ignored", "bias", "Wb left out: the source has only the recurrent bias",
        [](Layer& l) { l.Wb = nullptr; });
  }
  if (!is_zero(layer.Wb) && !is_zero(layer.Rb)) {
    add("B-ignored", "bias", "B left out: the source has no bias", [](Layer& l) { l.Wb = l.Rb = nullptr; });
  }
  if (layer.Wb && layer.op == Op::gru) {
    add("bias-halves-swapped", "bias", "Wb and Rb swapped: B holds Rb first",
        [](Layer& l) { std::swap(l.Wb, l.Rb); });
  }
  if (layer.Wb && layer.gates() > 1) {
    into.push_back({"bias-by-gate", "bias",
                    "B read gate by gate, Wb and Rb of one after the other: it was not split",
                    [](Candidate& c) { return split_by_gate(c.layer); }});
  }
}

}  // namespace grurun::trial::diagnosis
