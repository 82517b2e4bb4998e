#include "trial/diagnosis/graph_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

/// True when each of so many elements is there once.
bool are_all(std::vector<std::int64_t> elements, std::int64_t count) {
  if (static_cast<std::int64_t>(elements.size()) != count) return false;
  std::ranges::sort(elements);
  for (std::int64_t i = 0; i < count; ++i) {
    if (elements[static_cast<std::size_t>(i)] != i) return false;
  }
  return true;
}

/// When final states are read that stand in Y at these times, by direction; nullopt: at none that is known.
std::optional<FinalAt> final_at(const Layer& layer, const std::vector<std::int64_t>& times) {
  const bool all_long =
      std::ranges::all_of(layer.lengths, [&](std::int64_t length) { return length == layer.seq_length; });
  bool final = true, last = true, first = true;
  for (std::size_t d = 0; d < times.size(); ++d) {
    const bool at_end = times[d] == layer.seq_length - 1;
    final = final && (layer.reversed[d] ? times[d] == 0 : at_end && all_long);
    last = last && at_end;
    first = first && times[d] == 0;
  }
  if (final) return FinalAt::last_step;
  if (last) return FinalAt::last_time;
  return first ? std::optional(FinalAt::first_time) : std::nullopt;
}

/// Y at one time of each direction, as a final state.
void add_Y_at_one_time(Subject& subject, std::size_t graph_output, std::vector<std::int64_t> elements) {
  const Layer& layer = subject.layer;
  const auto [T, N, D, H] =
      std::tuple(layer.seq_length, layer.batch_size, layer.num_directions, layer.hidden_size);
  std::vector<std::int64_t> times(static_cast<std::size_t>(D), -1);
  for (std::int64_t& element : elements) {
    const std::int64_t unit = element % H, rest = element / H;
    const bool batch_first = subject.layout == 1;
    const std::int64_t d = batch_first ? rest % D : rest / N % D, n = batch_first ? rest / D / T : rest % N;
    const std::int64_t time = batch_first ? rest / D % T : rest / N / D;
    std::int64_t& known = times[static_cast<std::size_t>(d)];
    if (known < 0) known = time;
    if (known != time) return;
    element = (batch_first ? n * D + d : d * N + n) * H + unit;
  }
  const auto at = final_at(layer, times);
  if (!at || !are_all(elements, D * N * H)) return;
  subject.Y_h_at = *at;
  const Shape shape = subject.layout == 1 ? Shape{N, D, H} : Shape{D, N, H};
  subject.graph_outputs[1] = GraphOutput{graph_output, {}, false, std::move(elements), shape};
}

/// Where directions stand in an output.
std::size_t direction_axis(const Subject& subject, std::size_t output) {
  if (subject.layout == 1) return output == 0 ? 2 : 1;
  return output == 0 ? 1 : 0;
}

/// Of elements that are all of one direction, those of an output without the other one; nullopt where they
/// are not.
std::optional<SourceElements> of_direction(const Subject& both, const SourceElements& picked,
                                           std::int64_t direction) {
  const std::size_t axis = direction_axis(both, picked.output);
  SourceElements out = picked;
  out.shape[axis] = 1;
  const std::int64_t inner = picked.shape.count(axis + 1, picked.shape.rank());
  for (std::int64_t& element : out.elements) {
    if (element / inner % 2 != direction) return std::nullopt;
    element = element / inner / 2 * inner + element % inner;
  }
  return out;
}

template <typename T>
std::vector<T> half_of(const std::vector<T>& values, std::int64_t direction) {
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  return {values.begin() + direction * half, values.begin() + (direction + 1) * half};
}

Layer alone(const Layer& both, std::int64_t direction) {
  Layer out = both;
  out.num_directions = 1;
  out.reversed = {both.reversed[static_cast<std::size_t>(direction)], true};
  out.functions = half_of(both.functions, direction);
  for (Array* array : {&out.W, &out.R, &out.Wb, &out.Rb, &out.P, &out.initial_h, &out.initial_c}) {
    if (*array) *array = make_array(half_of(**array, direction));
  }
  return out;
}

/// Functions take the values of a list in their order: those of the backward direction what the others left.
std::vector<float> left_for(const std::vector<float>& values, const Layer& both, std::int64_t direction,
                            bool (*takes)(ActivationKind)) {
  const auto forward = half_of(both.functions, 0);
  const auto taken = std::ranges::count_if(forward, [&](const Activation& f) { return takes(f.kind); });
  const auto middle = values.begin() + std::min(taken, static_cast<std::ptrdiff_t>(values.size()));
  return direction == 0 ? std::vector<float>(values.begin(), middle)
                        : std::vector<float>(middle, values.end());
}

Subject alone(const Subject& both, std::int64_t direction) {
  Subject out = both;
  out.layer = alone(both.layer, direction);
  out.other_direction = std::make_shared<const Layer>(alone(both.layer, 1 - direction));
  out.label += direction == 0 ? ", forward" : ", backward";
  out.activations = half_of(both.activations, direction);
  out.alpha = left_for(both.alpha, both.layer, direction, takes_alpha);
  out.beta = left_for(both.beta, both.layer, direction, takes_beta);
  out.graph_outputs = {};
  out.Y_h_at = FinalAt::last_step;
  return out;
}

}  // namespace

void add_source_elements(Subject& subject, const SourceElements& picked) {
  if (are_all(picked.elements, picked.shape.element_count())) {
    if (!subject.graph_outputs[picked.output])
      subject.graph_outputs[picked.output] =
          GraphOutput{picked.graph_output, {}, false, picked.elements, picked.shape};
  } else if (picked.output == 0 && !subject.graph_outputs[1]) {
    add_Y_at_one_time(subject, picked.graph_output, picked.elements);
  }
}

std::array<std::optional<Subject>, 2> seen_alone(const Subject& both,
                                                 const std::vector<SourceElements>& picked) {
  std::array<std::optional<Subject>, 2> out;
  if (both.layer.num_directions != 2) return out;
  for (const std::int64_t direction : {0, 1}) {
    std::optional<Subject>& subject = out[static_cast<std::size_t>(direction)];
    for (const SourceElements& each : picked) {
      const std::optional<SourceElements> of_this = of_direction(both, each, direction);
      if (!of_this) continue;
      if (!subject) subject = alone(both, direction);
      add_source_elements(*subject, *of_this);
    }
    const bool seen = subject && std::ranges::any_of(subject->graph_outputs,
                                                     [](const auto& exit) { return exit.has_value(); });
    if (!seen) subject.reset();
  }
  return out;
}

}  // namespace grurun::trial::diagnosis
