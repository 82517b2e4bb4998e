#include "engine/ops/rnn/layer.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <type_traits>
#include <utility>

#include "engine/kernels/machine/parallel.h"
#include "engine/ops/rnn/recurrence.h"
#include "tensor/dispatch.h"

namespace grurun::engine::rnn {
namespace {

// Weights known before the run, packed for all layers that have them.
struct PackedWeights {
  LayerWeights<float> as_float;
  LayerWeights<double> as_double;
  bool may_be_compact = false;
  // Of weights that may be compact: held by each run, and alone by one that arranges them anew.
  std::shared_mutex arrangement;
  std::mutex next;  // who waits for `arrangement` holds it, so that no later run comes first

  template <typename Real>
  LayerWeights<Real>& as() {
    if constexpr (std::is_same_v<Real, double>) {
      return as_double;
    } else {
      return as_float;
    }
  }
};

// A node after prepare: what it says, and its weights where they are known before the run.
struct Layer {
  LayerForm form;
  LayerAttributes attributes;
  std::shared_ptr<PackedWeights> packed;  // nullptr: they come with each run
  std::optional<Dimensions> of_weights;   // of those that are packed
  std::atomic<std::uint32_t> runs{0};
  std::array<StepTrial<>, 2> trials;  // by direction
};

/// Calls body(panels, rows) for all weights and the rows that they are multiplied with.
template <typename Real, typename Body>
void each_product(LayerWeights<Real>& weights, const Dimensions& dims, Body body) {
  const std::int64_t rows_of_X = checked_mul(dims.seq_length, dims.batch_size);
  for (DirectionWeights<Real>& direction : weights) {
    for (BlockWeights<Real>& block : direction.blocks) {
      body(block.R, dims.batch_size);
      if (!direction.dense_W) body(block.W, rows_of_X);
    }
    if (direction.dense_W) body(*direction.dense_W, rows_of_X);
  }
}

void pack_constant_weights(PrepareContext& node, Layer& layer) {
  const auto weights = constant_weights(node);
  if (!weights) return;
  // DynamicQuantizeLSTM has 8-bit W, all else of it is float32.
  const DType dtype = layer.form.of->quantized ? DType::float32 : (*weights)[opset::input_W]->dtype();
  // Other types are refused by the executor, which knows the types that each version admits.
  if (!Floats::set.contains(dtype)) return;
  layer.of_weights = check_inputs(*weights, layer.form, layer.attributes);
  std::vector<std::int64_t> form{static_cast<std::int64_t>(layer.form.of->gates), layer.form.own_bias_gate};
  for (const RecurrentBlock& block : layer.form.blocks) form.push_back(block.gates);
  layer.packed = node.arrangements().get<PackedWeights>({weights->begin(), weights->end()}, form, [&] {
    auto made = std::make_shared<PackedWeights>();
    dispatch(Floats{}, dtype, [&]<typename T>() {
      using Real = ComputeType<T>;
      made->as<Real>() = pack_weights<T, Real>(*weights, layer.form);
      each_product(made->as<Real>(), {}, [&](const kernels::GatePanels<Real>& panels, std::int64_t) {
        if (panels.may_be_compact()) made->may_be_compact = true;
      });
    });
    return made;
  });
}

/// Arranges packed weights as a run of these dimensions wants them; they stay so while it holds the lock.
template <typename Real>
std::shared_lock<std::shared_mutex> arrange_weights(Layer& layer, const Dimensions& dims) {
  LayerWeights<Real>& weights = layer.packed->as<Real>();
  const std::lock_guard turn(layer.packed->next);
  bool arranged = true;
  each_product(weights, dims, [&](const kernels::GatePanels<Real>& panels, std::int64_t rows) {
    if (panels.wants_arranging(rows)) arranged = false;
  });
  // A plan that runs once more will run often.
  if (!arranged && layer.runs.load(std::memory_order_relaxed) > 0) {
    const std::lock_guard alone(layer.packed->arrangement);
    each_product(weights, dims, [](kernels::GatePanels<Real>& panels, std::int64_t rows) {
      if (panels.wants_arranging(rows)) panels.arrange(rows);
    });
  }
  return std::shared_lock(layer.packed->arrangement);
}

void run_layer(Layer& layer, RunContext& run) {
  const LayerInputs inputs = read_inputs(run);
  const Dimensions dims =
      check_inputs(inputs, layer.form, layer.attributes, layer.of_weights ? &*layer.of_weights : nullptr);
  const LayerOutputs outputs = make_outputs(run, inputs, layer.form, dims, layer.attributes.batch_first);
  if (dims.batch_size == 0 || dims.hidden_size == 0) return;  // the outputs have no elements

  dispatch(Floats{}, inputs[opset::input_X]->dtype(), [&]<typename T>() {
    using Real = ComputeType<T>;
    LayerWeights<Real> packed_now;
    if (!layer.packed) packed_now = pack_weights<T, Real>(inputs, layer.form);
    const LayerWeights<Real>& weights = layer.packed ? layer.packed->as<Real>() : packed_now;

    std::shared_lock<std::shared_mutex> lock;
    if (layer.packed && layer.packed->may_be_compact) lock = arrange_weights<Real>(layer, dims);

    LayerRun layer_run(run, inputs, outputs, layer.form, dims, layer.attributes);
    // Runs side by side may count as one: the order is for speed alone.
    const std::uint32_t runs = layer.runs.load(std::memory_order_relaxed);
    layer.runs.store(runs + 1, std::memory_order_relaxed);
    layer_run.descending = runs % 2 == 1;
    layer_run.trials = layer.trials.data();
    run_directions<T, Real>(layer_run, weights);
  });
}

}  // namespace

RunFunction layer_run_function(PrepareContext& node, LayerForm form) {
  const auto layer = std::make_shared<Layer>();
  layer->form = std::move(form);
  layer->attributes = read_layer_attributes(node, layer->form);
  pack_constant_weights(node, *layer);
  return [layer](RunContext& run) { run_layer(*layer, run); };
}

}  // namespace grurun::engine::rnn
