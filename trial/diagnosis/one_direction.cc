// Mistakes of weights and biases that were made in one direction of a layer alone.
#include <fmt/format.h>

#include <algorithm>

#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

constexpr Array Layer::*weights_by_direction[] = {&Layer::W, &Layer::R, &Layer::Wb, &Layer::Rb, &Layer::P};

/// The half of one direction as it was; a changed array that was left out counts as zeros.
void restore(const Array& before, Array& changed, std::int64_t direction) {
  if (before == changed || !before) return;
  std::vector<double> values = changed ? *changed : std::vector<double>(before->size(), 0.0);
  const auto half = static_cast<std::ptrdiff_t>(before->size() / 2);
  const auto begin = before->begin() + direction * half;
  std::copy(begin, begin + half, values.begin() + direction * half);
  changed = make_array(std::move(values));
}

bool is_of_weights(const Hypothesis& hypothesis) {
  static constexpr const char* families[] = {"gates", "turned", "bias", "peepholes"};
  return std::ranges::find(families, hypothesis.family) != std::end(families);
}

Hypothesis in_direction(const Hypothesis& of_both, std::int64_t direction, bool reversed) {
  return {of_both.id, of_both.family,
          fmt::format("{}, in the {} direction alone", of_both.text, reversed ? "backward" : "forward"),
          [=](Candidate& c) {
            const Layer before = c.layer;
            if (!of_both.apply(c)) return false;
            for (const auto member : weights_by_direction)
              restore(before.*member, c.layer.*member, 1 - direction);
            return true;
          }};
}

}  // namespace

std::vector<Hypothesis> of_one_direction(const std::vector<Hypothesis>& of_both, const Layer& layer) {
  std::vector<Hypothesis> out;
  if (layer.num_directions != 2) return out;
  for (const Hypothesis& hypothesis : of_both) {
    if (!is_of_weights(hypothesis)) continue;
    for (const std::int64_t direction : {1, 0}) {
      out.push_back(in_direction(hypothesis, direction, layer.reversed[static_cast<std::size_t>(direction)]));
    }
  }
  return out;
}

}  // namespace grurun::trial::diagnosis
