#include "engine/ops/rnn/layer.h"

namespace grurun::engine::rnn {
namespace {

// The weights when every one that the node names is known now; X and the states stay empty.
std::optional<LayerInputs> constant_weights(PrepareContext& node, const LayerForm& form) {
  LayerInputs inputs;
  const auto known = [&](std::size_t index, const Tensor*& to) {
    if (node.has_input(index)) to = node.constant_input(index);
    return !node.has_input(index) || to != nullptr;
  };
  const bool all = known(1, inputs.W) && known(2, inputs.R) && known(3, inputs.B) &&
                   (form.states == 1 || known(7, inputs.P));
  if (!all || inputs.W == nullptr || inputs.R == nullptr) return std::nullopt;
  return inputs;
}

}  // namespace

Layer make_layer(PrepareContext& node, LayerForm form, LayerAttributes attributes) {
  Layer layer{
      .form = std::move(form), .attributes = std::move(attributes), .packed_float = {}, .packed_double = {}};
  const auto weights = constant_weights(node, layer.form);
  // Other types are refused by the executor, which knows the types that each version admits.
  if (!weights || !Floats::set.contains(weights->W->dtype())) return layer;
  check_weights(*weights, layer.form, layer.attributes);
  dispatch(Floats{}, weights->W->dtype(), [&]<typename T>() {
    auto packed = pack_weights<T, ComputeType<T>>(*weights, layer.form);
    if constexpr (std::is_same_v<T, double>) {
      layer.packed_double = std::move(packed);
    } else {
      layer.packed_float = std::move(packed);
    }
  });
  return layer;
}

}  // namespace grurun::engine::rnn
