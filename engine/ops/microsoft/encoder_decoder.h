// An encoder and a decoder like T5 or Whisper, for BeamSearch and WhisperBeamSearch.
#pragma once

#include "engine/ops/microsoft/generation.h"

namespace grurun::engine {

/// Of T5, encoder: (encoder_input_ids, encoder_attention_mask, decoder_input_ids) -> (logits,
/// encoder_hidden_states, present_self..., present_cross...), which takes the first step, or
/// (encoder_input_ids, encoder_attention_mask) -> (present_cross...). decoder: (input_ids,
/// encoder_attention_mask, encoder_hidden_states if it is named so, past_self..., past_cross...) -> (logits,
/// present_self...). The encoder has a row for each prompt, the decoder for each beam; presents and pasts are
/// [rows, heads, length, size], a key and a value for each layer. input_ids are the last words where the
/// decoder declares a length of 1, else all so far.
///
/// Of Whisper, whose encoder_input_ids are features [rows, features, frames], the same without
/// encoder_attention_mask; the encoder takes the first step.
class EncoderDecoder {
 public:
  enum class Form { t5, whisper };

  /// Throws Error(unsupported) for bodies of other forms.
  EncoderDecoder(Form form, std::shared_ptr<const Plan> encoder, std::shared_ptr<const Plan> decoder);

  struct State {
    std::optional<Tensor> first_logits;  // of the encoder, before the first step
    Tensor mask, hidden;                 // as far as the decoder takes them
    std::vector<Value> self, cross;
  };

  /// starts [batch_size, begun]: the first words of the sequences. mask: [batch_size, length], or nullptr,
  /// where pads at the beginning are hidden; of T5 alone.
  State begin(const Tensor& prompt, const Tensor* mask, const Tensor& starts, std::int32_t pad,
              std::int64_t beams, RunContext& run) const;

  /// The logits of the next words of the sequences.
  Tensor run(State& state, const std::vector<Words>& sequences, RunContext& run) const;

  /// Goes on with the rows `from` of those before.
  static void go_on(State& state, std::span<const std::int64_t> from);

 private:
  Form form_;
  std::shared_ptr<const Plan> encoder_, decoder_;
  bool takes_first_step_, takes_hidden_, takes_last_word_;
};

}  // namespace grurun::engine
