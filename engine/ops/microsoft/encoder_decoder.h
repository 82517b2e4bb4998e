// An encoder and a decoder like T5, for BeamSearch.
#pragma once

#include "engine/ops/microsoft/generation.h"

namespace grurun::engine {

/// encoder: (encoder_input_ids, encoder_attention_mask, decoder_input_ids) -> (logits, encoder_hidden_states,
/// present_self..., present_cross...), which takes the first step, or (encoder_input_ids,
/// encoder_attention_mask) -> (present_cross...). decoder: (input_ids, encoder_attention_mask,
/// encoder_hidden_states if it is named so, past_self..., past_cross...) -> (logits, present_self...). The
/// encoder has a row for each prompt, the decoder for each beam; presents and pasts are [rows, heads, length,
/// size], a key and a value for each layer. input_ids are the last words where the decoder declares a length
/// of 1, else all so far.
class EncoderDecoder {
 public:
  EncoderDecoder(std::shared_ptr<const Plan> encoder, std::shared_ptr<const Plan> decoder);

  struct State {
    std::optional<Tensor> first_logits;  // of the encoder, before the first step
    Tensor mask, hidden;
    std::vector<Value> self, cross;
  };

  /// mask: [batch_size, length], or nullptr, where pads at the beginning are hidden.
  State begin(const Tensor& prompt, const Tensor* mask, const SearchAttributes& attributes,
              std::int64_t beams, RunContext& run) const;

  /// The logits of the next words of the sequences.
  Tensor run(State& state, const std::vector<Words>& sequences, RunContext& run) const;

  /// Goes on with the rows `from` of those before.
  static void go_on(State& state, std::span<const std::int64_t> from);

 private:
  std::shared_ptr<const Plan> encoder_, decoder_;
  bool takes_hidden_, takes_last_word_;
};

}  // namespace grurun::engine
