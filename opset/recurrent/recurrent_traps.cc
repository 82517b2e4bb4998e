#include "opset/recurrent/recurrent_traps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tensor/ascii_case.h"
#include "tensor/dispatch.h"

namespace grurun::opset {

namespace {

const RecurrentInputInfo* given(const std::vector<RecurrentInputInfo>& inputs, std::size_t index) {
  return index < inputs.size() && inputs[index].given ? &inputs[index] : nullptr;
}

bool any_nonzero(const Tensor& tensor, std::int64_t begin, std::int64_t end) {
  if (!Floats::set.contains(tensor.dtype())) return false;
  return dispatch(Floats{}, tensor.dtype(), [&]<typename T>() {
    return std::any_of(tensor.data<T>() + begin, tensor.data<T>() + end, [](T x) { return x != 0; });
  });
}

// PyTorch, cuDNN and Keras with reset_after keep Rbh apart since they multiply it with the reset gate.
void check_reset_bias(const RecurrentAttributes& attributes, const std::vector<RecurrentInputInfo>& inputs,
                      RecurrentFindings& findings) {
  const RecurrentInputInfo* B = given(inputs, input_B);
  if (attributes.linear_before_reset.value_or(true) || B == nullptr || B->value == nullptr) return;
  const Tensor& bias = *B->value;
  if (bias.rank() != 2 || bias.dim(1) % 6 != 0) return;
  const std::int64_t hidden_size = bias.dim(1) / 6;
  for (std::int64_t direction = 0; direction < bias.dim(0); ++direction) {
    const std::int64_t Rbh = direction * bias.dim(1) + 5 * hidden_size;
    if (!any_nonzero(bias, Rbh, Rbh + hidden_size)) continue;
    findings.push_back(
        {RecurrentRule::reset_bias, "",
         "linear_before_reset is 0, but Rbh in B is not: PyTorch, cuDNN and Keras (reset_after) keep Rbh "
         "apart because "
         "the reset gate applies to it; set linear_before_reset to 1 if the layer comes from there"});
    return;
  }
}

// Of an input that is a constant, or made of constants and shapes: ConstantOfShape and Expand often are.
std::optional<std::int64_t> fixed_size(const RecurrentInputInfo& input, std::size_t rank, std::size_t axis) {
  if (input.value != nullptr && input.value->rank() == rank) return input.value->dim(axis);
  if (input.value != nullptr || !input.input_free || !input.shape || input.shape->size() != rank)
    return std::nullopt;
  return (*input.shape)[axis].value;
}

void check_fixed_batch(const RecurrentAttributes& attributes, const std::vector<RecurrentInputInfo>& inputs,
                       RecurrentFindings& findings) {
  const RecurrentInputInfo* X = given(inputs, input_X);
  if (!attributes.layout || X == nullptr || !X->shape || X->shape->size() != 3) return;
  const std::size_t axis = *attributes.layout == 1 ? 0 : 1;
  if ((*X->shape)[axis].value) return;
  for (const std::size_t index : {input_sequence_lens, input_initial_h, input_initial_c}) {
    const RecurrentInputInfo* input = given(inputs, index);
    if (input == nullptr) continue;
    const std::size_t rank = index == input_sequence_lens ? 1 : 3;
    const std::optional<std::int64_t> rows =
        fixed_size(*input, rank, index == input_sequence_lens ? 0 : axis);
    if (!rows) continue;
    findings.push_back(
        {RecurrentRule::fixed_batch, fmt::format("input {}", recurrent_input_name(index)),
         fmt::format(
             "{} is a constant for {} row{}, but X {} leaves batch_size open: other batches will fail; {}",
             recurrent_input_name(index), *rows, *rows == 1 ? "" : "s", to_string(*X->shape),
             index == input_sequence_lens ? "make it an input, or leave it out"
                                          : "leave it out if it is 0, or make it an input")});
  }
}

bool names(const Dim& dim, std::span<const char* const> words) {
  const std::string name = ascii_lower(dim.name);
  return std::ranges::any_of(words, [&](const char* word) { return name.find(word) != std::string::npos; });
}

void check_axes(const RecurrentAttributes& attributes, const std::vector<RecurrentInputInfo>& inputs,
                RecurrentFindings& findings) {
  constexpr std::array batch_words = {"batch"};
  constexpr std::array time_words = {"seq", "time", "step", "frame", "len"};
  const RecurrentInputInfo* X = given(inputs, input_X);
  if (!attributes.layout || X == nullptr || !X->shape || X->shape->size() != 3) return;
  const bool batch_first = *attributes.layout == 1;
  const Dim& time = (*X->shape)[batch_first ? 1 : 0];
  const Dim& batch = (*X->shape)[batch_first ? 0 : 1];
  // Where time stands in its place, "num_sequences" or "timeseries" count rows of the batch.
  if (names(time, time_words)) return;
  const bool swapped = names(time, batch_words) || (names(batch, time_words) && !names(batch, batch_words));
  if (!swapped) return;
  findings.push_back({RecurrentRule::swapped_axes, "",
                      fmt::format("X is {}, but layout {} reads [{}]; Transpose X if its names are right",
                                  to_string(*X->shape), *attributes.layout,
                                  batch_first ? "batch_size, seq_length, input_size"
                                              : "seq_length, batch_size, input_size")});
}

}  // namespace

void check_recurrent_traps(const RecurrentForm& form, const RecurrentAttributes& attributes,
                           const std::vector<RecurrentInputInfo>& inputs, RecurrentFindings& findings) {
  if (form.op_type == std::string_view("GRU")) check_reset_bias(attributes, inputs, findings);
  check_fixed_batch(attributes, inputs, findings);
  check_axes(attributes, inputs, findings);
}

}  // namespace grurun::opset
