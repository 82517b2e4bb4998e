// The words of Whisper that stand for places in time, for searches with logits_processor 1.
#pragma once

#include <cstdint>
#include <span>

#include "engine/ops/microsoft/generation.h"

namespace grurun::engine {

/// Words of the vocabulary, in the order of Whisper's tokenizer; -1 where there is none. All from
/// beginning_timestamp on stand for a time.
struct TimestampWords {
  std::int32_t eos = -1, start = -1, translate = -1, transcribe = -1, start_of_lm = -1, no_timestamps = -1,
               beginning_timestamp = -1;

  /// Hides the words that must not follow the sequence: times come in pairs and do not go back, the first is
  /// one of 51, and one comes next where all together are likelier than each text. scores [words] are
  /// logarithmic probabilities. beginning_timestamp must be one of the words.
  void apply(std::span<float> scores, const Words& sequence) const;
};

}  // namespace grurun::engine
