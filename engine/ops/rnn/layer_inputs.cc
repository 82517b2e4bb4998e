#include "engine/ops/rnn/layer_inputs.h"

#include <algorithm>
#include <span>

#include "opset/recurrent/recurrent_rules.h"
#include "opset/recurrent/recurrent_shapes.h"
#include "tensor/error.h"

namespace grurun::engine::rnn {
namespace {

constexpr std::array<std::size_t, opset::recurrent_inputs> every_input = {0, 1, 2, 3, 4,  5,
                                                                          6, 7, 8, 9, 10, 11};
constexpr std::array<std::size_t, 4> beside_weights = {opset::input_X, opset::input_sequence_lens,
                                                       opset::input_initial_h, opset::input_initial_c};
using Which = std::span<const std::size_t>;

void check_types(const LayerInputs& inputs, Which which, bool quantized) {
  const DType weights = inputs[opset::input_W]->dtype();
  if (quantized && weights != DType::int8 && weights != DType::uint8)
    fail_invalid("W is tensor({}); it must be tensor(int8) or tensor(uint8)", dtype_name(weights));
  const Tensor* X = inputs[opset::input_X];
  const DType values = quantized ? DType::float32 : X != nullptr ? X->dtype() : weights;
  if (!quantized && weights != values)
    fail_invalid("W is tensor({}); it must be tensor({})", dtype_name(weights), dtype_name(values));
  for (const std::size_t i : which) {
    if (inputs[i] == nullptr) continue;
    const bool integers = quantized && (i == opset::input_W || i == opset::input_R ||
                                        i == opset::input_W_zero_point || i == opset::input_R_zero_point);
    const DType wanted = i == opset::input_sequence_lens ? DType::int32 : integers ? weights : values;
    if (inputs[i]->dtype() != wanted)
      fail_invalid("{} is tensor({}); it must be tensor({})", opset::recurrent_input_name(i),
                   dtype_name(inputs[i]->dtype()), dtype_name(wanted));
  }
}

// Beside those of weights that have been checked. Member by member: a copy in vectors would wait for members
// that were just written.
Dimensions read_dimensions(const LayerInputs& inputs, const LayerAttributes& attributes,
                           const Dimensions& of_weights) {
  const Shape& X = inputs[opset::input_X]->shape();
  if (X.rank() != attributes.input_dims[opset::input_X].size()) return of_weights;
  const std::size_t time = attributes.batch_first ? 1 : 0;
  return {.seq_length = X[time],
          .batch_size = X[1 - time],
          .input_size = of_weights.input_size,
          .hidden_size = of_weights.hidden_size,
          .num_directions = of_weights.num_directions};
}

Dimensions read_dimensions(const LayerInputs& inputs, const LayerAttributes& attributes) {
  Dimensions dims;
  // Of two that tell a size, the last one counts.
  for (const std::size_t i : {opset::input_W, opset::input_R, opset::input_X}) {
    const opset::RecurrentDims& stated = attributes.input_dims[i];
    if (inputs[i] == nullptr || inputs[i]->rank() != stated.size()) continue;
    const std::int64_t* dim = inputs[i]->shape().begin();
    for (const opset::RecurrentDim& each : stated) {
      if (each.factor == 1) opset::size_of(dims, each.size) = *dim;
      ++dim;
    }
  }
  dims.num_directions = attributes.num_directions;
  return dims;
}

bool fits(const Tensor& tensor, std::span<const opset::RecurrentDim> stated, const Dimensions& dims) {
  return std::ranges::equal(tensor.shape().dims(), stated,
                            [&](std::int64_t dim, const opset::RecurrentDim& of) {
                              return dim == checked_mul(of.factor, opset::size_of(dims, of.size));
                            });
}

bool all_fit(const LayerInputs& inputs, Which which, const LayerAttributes& attributes,
             const Dimensions& dims) {
  for (const std::size_t i : which) {
    if (inputs[i] == nullptr) continue;
    std::span<const opset::RecurrentDim> stated = attributes.input_dims[i];
    if (i >= opset::input_W_scale) {  // by direction or by column, a zero point as the scale before it
      const std::size_t scale = i < opset::input_R_scale ? opset::input_W_scale : opset::input_R_scale;
      if (inputs[scale]->rank() == 1) stated = stated.first(1);
    }
    if (!fits(*inputs[i], stated, dims)) return false;
  }
  const Tensor* lengths = inputs[opset::input_sequence_lens];
  return lengths == nullptr || std::ranges::all_of(lengths->span<std::int32_t>(), [&](std::int32_t length) {
           return opset::is_sequence_length(length, dims.seq_length);
         });
}

// As the checker tells it.
[[noreturn]] void refuse(const LayerInputs& inputs, const LayerForm& form,
                         const LayerAttributes& attributes) {
  std::vector<opset::RecurrentInputInfo> infos(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    infos[i] = {.given = true, .shape = symbolic_shape(inputs[i]->shape()), .value = inputs[i]};
  }
  opset::RecurrentFindings findings;
  opset::check_recurrent_shapes(*form.of, attributes.stated, infos, findings);
  opset::require_no_errors(*form.of, findings);
  fail_internal("inputs of a layer do not fit, but no rule says so");
}

}  // namespace

LayerInputs read_inputs(RunContext& run) {
  LayerInputs inputs{};
  const std::size_t count = std::min(inputs.size(), run.input_count());
  for (std::size_t i = 0; i < count; ++i)
    inputs[i] = i <= opset::input_R ? &run.tensor(i) : run.optional_tensor(i);
  return inputs;
}

std::optional<LayerInputs> constant_weights(PrepareContext& node) {
  LayerInputs inputs{};
  for (std::size_t i = opset::input_W; i < inputs.size(); ++i) {
    const bool weight = i <= opset::input_B || i >= opset::input_P;
    if (!weight || !node.has_input(i)) continue;
    inputs[i] = node.constant_input(i);
    if (inputs[i] == nullptr) return std::nullopt;
  }
  if (inputs[opset::input_W] == nullptr || inputs[opset::input_R] == nullptr) return std::nullopt;
  return inputs;
}

Dimensions check_inputs(const LayerInputs& inputs, const LayerForm& form, const LayerAttributes& attributes,
                        const Dimensions* of_weights) {
  const Which which = of_weights != nullptr ? Which(beside_weights) : Which(every_input);
  // Beside checked weights of the standard's operators, types are as the executor passed them.
  if (of_weights == nullptr || form.of->quantized) check_types(inputs, which, form.of->quantized);
  const Dimensions dims = of_weights != nullptr ? read_dimensions(inputs, attributes, *of_weights)
                                                : read_dimensions(inputs, attributes);
  const bool as_stated = attributes.stated.hidden_size.value_or(dims.hidden_size) == dims.hidden_size;
  if (!as_stated || !all_fit(inputs, which, attributes, dims)) refuse(inputs, form, attributes);
  return dims;
}

}  // namespace grurun::engine::rnn
