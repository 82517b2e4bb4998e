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

EncoderDecoder::EncoderDecoder(Form form, std::shared_ptr<const Plan> encoder,
                               std::shared_ptr<const Plan> decoder)
    : form_(form), encoder_(std::move(encoder)), decoder_(std::move(decoder)) {
  const bool masked = form_ == Form::t5;
  const std::size_t in = encoder_->inputs.size(), out = encoder_->outputs.size();
  takes_first_step_ = in == (masked ? 3 : 2) && out >= 6 && (out - 2) % 4 == 0;
  require_form(takes_first_step_ || (masked && in == 2 && out >= 2 && out % 2 == 0), *encoder_,
               masked ? "(encoder_input_ids, encoder_attention_mask, decoder_input_ids) -> (logits, "
                        "encoder_hidden_states, presents...) and (encoder_input_ids, "
                        "encoder_attention_mask) -> (presents...)"
                      : "(encoder_input_ids, decoder_input_ids) -> (logits, encoder_hidden_states, "
                        "presents...)");
  const std::size_t layers = takes_first_step_ ? (out - 2) / 4 : out / 2, ids = masked ? 2 : 1;
  takes_hidden_ = decoder_->inputs.size() > ids && decoder_->input_names[ids] == "encoder_hidden_states";
  if (takes_hidden_ && !takes_first_step_)
    fail_invalid("the decoder wants encoder_hidden_states, which the encoder does not give");
  require_form(decoder_->inputs.size() == ids + (takes_hidden_ ? 1 : 0) + 4 * layers &&
                   decoder_->outputs.size() == 1 + 2 * layers,
               *decoder_,
               masked ? "(input_ids, encoder_attention_mask, encoder_hidden_states, past_self..., "
                        "past_cross...) -> (logits, present_self...), of as many layers as the encoder"
                      : "(input_ids, encoder_hidden_states, past_self..., past_cross...) -> (logits, "
                        "present_self...), of as many layers as the encoder");
  const auto& shape = decoder_->input_types[0].shape;
  takes_last_word_ = shape && shape->size() == 2 && (*shape)[1].value == 1;
}

EncoderDecoder::State EncoderDecoder::begin(const Tensor& prompt, const Tensor* mask, const Tensor& starts,
                                            std::int32_t pad, std::int64_t beams, RunContext& run) const {
  State state;
  Values inputs;
  inputs.emplace_back(prompt);
  if (form_ == Form::t5) {
    if (mask != nullptr && !(mask->shape() == prompt.shape())) refuse();
    const Tensor shown = mask != nullptr ? *mask : mask_of(prompt, pad);
    inputs.emplace_back(shown);
    state.mask = repeated_rows(shown, beams);
  }
  if (takes_first_step_) inputs.emplace_back(starts);
  const Values made = run.run_subgraph(*encoder_, std::move(inputs));
  std::size_t at = 0;
  if (takes_first_step_) {
    state.first_logits = made[0].tensor();
    if (takes_hidden_) state.hidden = repeated_rows(made[1].tensor(), beams);
    at = 2;
  }
  const std::size_t count = decoder_->outputs.size() - 1;
  for (std::size_t i = 0; takes_first_step_ && i < count; ++i)
    state.self.emplace_back(repeated_rows(made[at++].tensor(), beams));
  for (std::size_t i = 0; i < count; ++i) state.cross.emplace_back(repeated_rows(made[at++].tensor(), beams));
  for (std::size_t i = 0; !takes_first_step_ && i < count; ++i)
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
  inputs.emplace_back(ids_of(sequences, takes_last_word_));
  if (form_ == Form::t5) inputs.emplace_back(state.mask);
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
