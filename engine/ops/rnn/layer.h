// From a node to a run step, the same way for RNN, GRU and LSTM.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/graph/op_context.h"
#include "engine/ops/rnn/cell.h"
#include "engine/ops/rnn/recurrence.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine::rnn {

/// A node after prepare: what it says, and its weights packed where they are known before the run.
struct Layer {
  LayerForm form;
  LayerAttributes attributes;
  std::optional<LayerWeights<float>> packed_float;
  std::optional<LayerWeights<double>> packed_double;

  template <typename Real>
  const std::optional<LayerWeights<Real>>& packed() const {
    if constexpr (std::is_same_v<Real, double>) {
      return packed_double;
    } else {
      return packed_float;
    }
  }
};

/// Checks and packs W, R, B and P when all that the node names are constant. Throws Error(invalid_model) when
/// they contradict each other.
Layer make_layer(PrepareContext& node, LayerForm form, LayerAttributes attributes);

/// The run step of a layer whose cell is CellType<Real>, constructed from (CellParts<Real>, options).
template <template <typename> class CellType, typename Options>
RunFunction layer_run_function(Layer made, Options options) {
  const auto layer = std::make_shared<const Layer>(std::move(made));
  return [layer, options](RunContext& run) {
    const LayerAttributes& attributes = layer->attributes;
    const LayerInputs inputs = read_inputs(run, layer->form);
    const Dimensions dims = check_inputs(inputs, layer->form, attributes);
    const LayerOutputs outputs = make_outputs(run, inputs, layer->form, dims, attributes.batch_first);
    if (dims.batch_size == 0 || dims.hidden_size == 0) return;  // the outputs have no elements

    dispatch(Floats{}, inputs.X->dtype(), [&]<typename T>() {
      using Real = ComputeType<T>;
      LayerWeights<Real> packed_now;
      if (!layer->packed<Real>()) packed_now = pack_weights<T, Real>(inputs, layer->form);
      const LayerWeights<Real>& weights = layer->packed<Real>() ? *layer->packed<Real>() : packed_now;

      Recurrence<T, Real> recurrence(run, inputs, outputs, layer->form, dims, attributes);
      for (std::int64_t direction = 0; direction < dims.num_directions; ++direction) {
        const DirectionWeights<Real>& own = weights[static_cast<std::size_t>(direction)];
        CellType<Real> cell(
            {own, attributes.functions(direction), attributes.clip, dims.batch_size, dims.hidden_size},
            options);
        recurrence.run_direction(direction, own.W, cell);
      }
    });
  };
}

}  // namespace grurun::engine::rnn
