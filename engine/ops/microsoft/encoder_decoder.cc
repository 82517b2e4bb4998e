#include "engine/ops/microsoft/encoder_decoder.h"

#include <algorithm>

namespace grurun::engine {

namespace {

void require_form(bool fits, const Plan& body, const char* form) {
  if (fits) return;
  fail_unsupported("the body '{}' has {} inputs and {} outputs: only {} is known", body.name,
                   body.inputs.size(), body.outputs.size(), form);
}

// Pads before the first other word are hidden.
Tensor mask_of(const Tensor& prompt, std::int32_t pad) {
  Tensor mask(DType::int32, prompt.shape());
  auto* shown = mask.mutable_data<std::int32_t>();
  bool begun = false;
  for (std::int64_t i = 0; i < prompt.size(); ++i) {
    if (i % prompt.dim(1) == 0) begun = false;
    begun = begun || prompt.data<std::int32_t>()[i] != pad;
    shown[i] = begun ? 1 : 0;
  }
  return mask;
}

Tensor ids_of(const std::vector<Words>& sequences, bool last_alone) {
  const std::size_t length = last_alone ? 1 : sequences[0].size();
  Tensor ids(DType::int32, {std::ssize(sequences), static_cast<std::int64_t>(length)});
  auto* to = ids.mutable_data<std::int32_t>();
  for (const Words& words : sequences)
    to = std::copy(words.end() - static_cast<std::ptrdiff_t>(length), words.end(), to);
  return ids;
}

// Like a cross present, but of no length.
Tensor empty_self(const Tensor& cross) {
  if (cross.rank() != 4) fail_invalid("a present of the encoder has {} axes, but must have 4", cross.rank());
  return {cross.dtype(), Shape{cross.dim(0), cross.dim(1), 0, cross.dim(3)}};
}

}  // namespace

EncoderDecoder::EncoderDecoder(std::shared_ptr<const Plan> encoder, std::shared_ptr<const Plan> decoder)
    : encoder_(std::move(encoder)), decoder_(std::move(decoder)) {
  const std::size_t in = encoder_->inputs.size(), out = encoder_->outputs.size();
  const bool first_step = in == 3 && out >= 6 && (out - 2) % 4 == 0;
  require_form(
      first_step || (in == 2 && out >= 2 && out % 2 == 0), *encoder_,
      "(encoder_input_ids, encoder_attention_mask, decoder_input_ids) -> (logits, encoder_hidden_states, "
      "presents...) and (encoder_input_ids, encoder_attention_mask) -> (presents...)");
  const std::size_t layers = first_step ? (out - 2) / 4 : out / 2;
  takes_hidden_ = decoder_->inputs.size() > 2 && decoder_->input_names[2] == "encoder_hidden_states";
  if (takes_hidden_ && !first_step)
    fail_invalid("the decoder wants encoder_hidden_states, which the encoder does not give");
  require_form(
      decoder_->inputs.size() == (takes_hidden_ ? 3 : 2) + 4 * layers &&
          decoder_->outputs.size() == 1 + 2 * layers,
      *decoder_,
      "(input_ids, encoder_attention_mask, encoder_hidden_states, past_self..., past_cross...) -> (logits, "
      "present_self...), of as many layers as the encoder");
  const auto& shape = decoder_->input_types[0].shape;
  takes_last_word_ = shape && shape->size() == 2 && (*shape)[1].value == 1;
}

EncoderDecoder::State EncoderDecoder::begin(const Tensor& prompt, const Tensor* mask,
                                            const SearchAttributes& attributes, std::int64_t beams,
                                            RunContext& run) const {
  if (mask != nullptr && !(mask->shape() == prompt.shape())) {
    fail_invalid("attention_mask is {}, but input_ids {}", mask->shape().to_string(),
                 prompt.shape().to_string());
  }
  const Tensor shown = mask != nullptr ? *mask : mask_of(prompt, attributes.pad);
  Values inputs;
  inputs.emplace_back(prompt), inputs.emplace_back(shown);
  const bool first_step = encoder_->inputs.size() == 3;
  if (first_step) {
    const std::vector<std::int32_t> starts(static_cast<std::size_t>(prompt.dim(0)), attributes.start);
    inputs.emplace_back(Tensor::from<std::int32_t>({prompt.dim(0), 1}, starts));
  }
  const Values made = run.run_subgraph(*encoder_, std::move(inputs));
  State state;
  state.mask = repeated_rows(shown, beams);
  std::size_t at = 0;
  if (first_step) {
    state.first_logits = made[0].tensor();
    if (takes_hidden_) state.hidden = repeated_rows(made[1].tensor(), beams);
    at = 2;
  }
  const std::size_t count = decoder_->outputs.size() - 1;
  for (std::size_t i = 0; first_step && i < count; ++i)
    state.self.emplace_back(repeated_rows(made[at++].tensor(), beams));
  for (std::size_t i = 0; i < count; ++i) state.cross.emplace_back(repeated_rows(made[at++].tensor(), beams));
  for (std::size_t i = 0; !first_step && i < count; ++i)
    state.self.emplace_back(empty_self(state.cross[i].tensor()));
  return state;
}

Tensor EncoderDecoder::run(State& state, const std::vector<Words>& sequences, RunContext& run) const {
  if (state.first_logits) {
    const Tensor logits = *state.first_logits;
    state.first_logits.reset();
    return logits;
  }
  Values inputs;
  inputs.emplace_back(ids_of(sequences, takes_last_word_)), inputs.emplace_back(state.mask);
  if (takes_hidden_) inputs.emplace_back(state.hidden);
  for (Value& past : state.self) inputs.push_back(std::move(past));
  for (const Value& past : state.cross) inputs.push_back(past);
  Values made = run.run_subgraph(*decoder_, std::move(inputs));
  for (std::size_t i = 0; i < state.self.size(); ++i) state.self[i] = std::move(made[1 + i]);
  return made[0].tensor();
}

void EncoderDecoder::go_on(State& state, std::span<const std::int64_t> from) {
  for (Value& past : state.self) past = rows_of(past.tensor(), 0, from);
}

}  // namespace grurun::engine
