#include "engine/ops/rnn/layer_inputs.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "opset/recurrent_form.h"
#include "tensor/error.h"

namespace grurun::engine::rnn {
namespace {

// rule() is the shape in the standard's words; it is called only for an error.
template <typename Rule>
void require_rank_3(const char* name, const Tensor& tensor, Rule rule) {
  if (tensor.rank() != 3) fail_invalid("{} is {}; it must be {}", name, tensor.shape().to_string(), rule());
}

template <typename Rule>
void require_shape(const char* name, const Tensor* tensor, std::initializer_list<std::int64_t> wanted,
                   Rule rule) {
  if (tensor == nullptr || same_dims(tensor->shape().dims(), {wanted.begin(), wanted.size()})) return;
  fail_invalid("{} is {}; it must be {}, here {}", name, tensor->shape().to_string(), rule(),
               Shape(wanted).to_string());
}

void require_type(const char* name, const Tensor* tensor, const char* reference_name,
                  const Tensor& reference) {
  if (tensor == nullptr || tensor->dtype() == reference.dtype()) return;
  fail_invalid("{} is tensor({}); it must have the type of {}, tensor({})", name, dtype_name(tensor->dtype()),
               reference_name, dtype_name(reference.dtype()));
}

auto rule_of_X(bool batch_first) {
  return [=] {
    return batch_first ? "[batch_size, seq_length, input_size] under layout 1"
                       : "[seq_length, batch_size, input_size]";
  };
}

void check_lengths(const Tensor* sequence_lens, const Dimensions& dims) {
  if (sequence_lens == nullptr) return;
  if (sequence_lens->dtype() != DType::int32) {
    fail_invalid("sequence_lens is tensor({}); it must be tensor(int32)", dtype_name(sequence_lens->dtype()));
  }
  require_shape("sequence_lens", sequence_lens, {dims.batch_size}, [] { return "[batch_size]"; });
  const auto* lengths = sequence_lens->data<std::int32_t>();
  for (std::int64_t row = 0; row < dims.batch_size; ++row) {
    if (lengths[row] < 0 || lengths[row] > dims.seq_length) {
      fail_invalid("sequence_lens[{}] is {}; it must be in [0, seq_length], here [0, {}]", row, lengths[row],
                   dims.seq_length);
    }
  }
}

void check_states(const LayerInputs& inputs, const Dimensions& dims, bool batch_first) {
  const std::int64_t first = batch_first ? dims.batch_size : dims.num_directions;
  const std::int64_t second = batch_first ? dims.num_directions : dims.batch_size;
  const auto rule = [=] {
    return batch_first ? "[batch_size, num_directions, hidden_size] under layout 1"
                       : "[num_directions, batch_size, hidden_size]";
  };
  require_type("initial_h", inputs.initial_h, "X", *inputs.X);
  require_type("initial_c", inputs.initial_c, "X", *inputs.X);
  require_shape("initial_h", inputs.initial_h, {first, second, dims.hidden_size}, rule);
  require_shape("initial_c", inputs.initial_c, {first, second, dims.hidden_size}, rule);
}

}  // namespace

LayerInputs read_inputs(RunContext& run, const LayerForm& form) {
  LayerInputs inputs;
  inputs.X = &run.tensor(opset::input_X);
  inputs.W = &run.tensor(opset::input_W);
  inputs.R = &run.tensor(opset::input_R);
  inputs.B = run.optional_tensor(opset::input_B);
  inputs.sequence_lens = run.optional_tensor(opset::input_sequence_lens);
  inputs.initial_h = run.optional_tensor(opset::input_initial_h);
  if (form.states > 1) {
    inputs.initial_c = run.optional_tensor(opset::input_initial_c);
    inputs.P = run.optional_tensor(opset::input_P);
  }
  return inputs;
}

void check_weights(const LayerInputs& inputs, const LayerForm& form, const LayerAttributes& attributes,
                   std::optional<std::int64_t> input_size) {
  const auto& [X, W, R, B, sequence_lens, initial_h, initial_c, P] = inputs;
  require_type("R", R, "W", *W);
  require_type("B", B, "W", *W);
  require_type("P", P, "W", *W);

  const auto rule_of_W = [&] {
    return "[num_directions, " + opset::times_hidden_size(form.gates) + ", input_size]";
  };
  const auto rule_of_R = [&] {
    return "[num_directions, " + opset::times_hidden_size(form.gates) + ", hidden_size]";
  };
  require_rank_3("W", *W, rule_of_W);
  require_rank_3("R", *R, rule_of_R);
  const std::int64_t hidden_size = R->dim(2);
  if (attributes.hidden_size && *attributes.hidden_size != hidden_size) {
    fail_invalid("attribute hidden_size is {}, but R is {}: its last dimension is hidden_size",
                 *attributes.hidden_size, R->shape().to_string());
  }
  const std::int64_t directions = attributes.num_directions();
  const std::int64_t rows = checked_mul(form.gates, hidden_size);
  require_shape("R", R, {directions, rows, hidden_size}, rule_of_R);
  require_shape("W", W, {directions, rows, input_size.value_or(W->dim(2))}, rule_of_W);
  require_shape("B", B, {directions, checked_mul(2, rows)},
                [&] { return "[num_directions, " + opset::times_hidden_size(2 * form.gates) + "]"; });
  require_shape("P", P, {directions, checked_mul(3, hidden_size)},
                [] { return "[num_directions, 3*hidden_size]"; });
}

Dimensions check_inputs(const LayerInputs& inputs, const LayerForm& form, const LayerAttributes& attributes,
                        bool checked_weights) {
  const Tensor& X = *inputs.X;
  require_type("W", inputs.W, "X", X);
  require_rank_3("X", X, rule_of_X(attributes.batch_first));
  if (!checked_weights || inputs.W->dim(2) != X.dim(2)) check_weights(inputs, form, attributes, X.dim(2));
  return check_sequence(inputs, attributes, X.dim(2), inputs.R->dim(2));
}

Dimensions check_sequence(const LayerInputs& inputs, const LayerAttributes& attributes,
                          std::int64_t input_size, std::int64_t hidden_size) {
  const bool batch_first = attributes.batch_first;
  const Tensor& X = *inputs.X;
  require_rank_3("X", X, rule_of_X(batch_first));
  require_shape("X", &X, {X.dim(0), X.dim(1), input_size}, rule_of_X(batch_first));
  const Dimensions dims{.seq_length = X.dim(batch_first ? 1 : 0),
                        .batch_size = X.dim(batch_first ? 0 : 1),
                        .input_size = input_size,
                        .hidden_size = hidden_size,
                        .num_directions = attributes.num_directions()};
  check_states(inputs, dims, batch_first);
  check_lengths(inputs.sequence_lens, dims);
  return dims;
}

}  // namespace grurun::engine::rnn
