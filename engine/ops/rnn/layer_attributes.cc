#include "engine/ops/rnn/layer_attributes.h"

#include "tensor/error.h"

namespace grurun::engine::rnn {
namespace {

Direction read_direction(PrepareContext& node) {
  const std::string direction = node.string_attribute("direction", "forward");
  if (direction == "forward") return Direction::forward;
  if (direction == "reverse") return Direction::reverse;
  if (direction == "bidirectional") return Direction::bidirectional;
  // GRU-1 spells its default so.
  if (direction == "foward" && node.op_type() == "GRU" && node.since_version() == 1)
    return Direction::forward;
  fail_invalid("attribute direction is '{}'; it must be forward, reverse or bidirectional", direction);
}

bool read_batch_first(PrepareContext& node) {
  return node.since_version() >= 14 && node.flag_attribute("layout", false);
}

std::optional<std::int64_t> read_hidden_size(PrepareContext& node) {
  const auto hidden_size = node.optional_int("hidden_size");
  if (hidden_size && *hidden_size < 0)
    fail_invalid("attribute hidden_size is {}, which is negative", *hidden_size);
  return hidden_size;
}

float read_clip(PrepareContext& node) {
  const auto clip = node.optional_float("clip");
  if (!clip) return no_clip;
  if (!(*clip > 0)) {
    fail_invalid(
        "attribute clip is {}; [-clip, clip] is a range only for a positive threshold (leave the attribute "
        "out "
        "for none)",
        *clip);
  }
  return *clip;
}

std::vector<Activation> read_activations(PrepareContext& node, const LayerForm& form,
                                         std::size_t directions) {
  const std::vector<std::string>& one = form.default_activations;
  std::vector<std::string> names = node.strings_attribute("activations");
  if (names.empty()) {
    for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), one.begin(), one.end());
  }
  // RNN's schema prints a default of two functions, and exporters copy it to layers of one direction.
  if (node.op_type() == "RNN" && directions == 1 && names.size() == 2) names.pop_back();
  const std::size_t wanted = one.size() * directions;
  if (names.size() != wanted) {
    fail_invalid("attribute activations lists {} functions; {} with {} direction{} needs {}", names.size(),
                 node.op_type(), directions, directions == 1 ? "" : "s", wanted);
  }
  return parse_activations(names, node.floats_attribute("activation_alpha"),
                           node.floats_attribute("activation_beta"));
}

}  // namespace

std::span<const Activation> LayerAttributes::functions(std::int64_t direction_index) const {
  const std::size_t each = activations.size() / static_cast<std::size_t>(num_directions());
  return std::span(activations).subspan(static_cast<std::size_t>(direction_index) * each, each);
}

LayerForm lstm_form(PrepareContext& node, bool clip_cell_state) {
  return {.gates = kernels::lstm_gates,
          .states = 2,
          .default_activations = opset::find_recurrent_form("LSTM", "")->default_functions(),
          .blocks = {{kernels::lstm_gates, kernels::CellKind::lstm}},
          .input_forget = node.flag_attribute("input_forget", false),
          .clip_cell_state = clip_cell_state};
}

LayerAttributes read_layer_attributes(PrepareContext& node, const LayerForm& form) {
  LayerAttributes attributes;
  attributes.direction = read_direction(node);
  attributes.batch_first = read_batch_first(node);
  attributes.hidden_size = read_hidden_size(node);
  attributes.clip = read_clip(node);
  attributes.activations =
      read_activations(node, form, static_cast<std::size_t>(attributes.num_directions()));
  // It says whether Y may be left out. Outputs are positional whatever it says, so Y is computed when it is
  // named.
  if (node.since_version() < 7) node.accept_attribute("output_sequence");
  return attributes;
}

}  // namespace grurun::engine::rnn
