#include "opset/pages/microsoft_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

enum SearchModel : std::int64_t { decoder_alone = 0, text_encoder = 1, speech_encoder = 2 };

// Inputs of BeamSearch stand elsewhere than those of the searches that keep one sequence.
struct SearchInputs {
  std::size_t penalty, mask, first_words, processor;
};

constexpr std::size_t nowhere = 100;
constexpr SearchInputs of_beams{6, 9, 10, 11}, of_one{3, 6, nowhere, nowhere};

void check_prompt(const NodeFacts& facts, std::int64_t type) {
  const bool speech = type == speech_encoder;
  const SymbolicShape* prompt = facts.shape(0);
  if (prompt != nullptr && rank_of(*prompt) != (speech ? 3 : 2))
    fail_invalid("input_ids is {}, but must have {} axes with model_type {}", to_string(*prompt),
                 speech ? 3 : 2, type);
  const DType dtype = facts.dtype(0);
  if (dtype != DType::undefined && (dtype != DType::int32) != speech)
    fail_invalid("input_ids is {}, but must be {} with model_type {}", dtype_name(dtype),
                 speech ? "a float" : "int32", type);
  if (prompt != nullptr && count_of(sizes_of(*prompt)) == 0)
    fail_invalid("input_ids is {}: it holds nothing to begin with", to_string(*prompt));
}

// How many words a sequence begins with.
Size first_length(const NodeFacts& facts, std::int64_t type, const SearchInputs& inputs) {
  if (type == decoder_alone) return size_of(facts.shape(0), 1);
  if (type != speech_encoder || !facts.has_input(inputs.first_words)) {
    if (facts.int_attribute("decoder_start_token_id", -1) < 0)
      fail_invalid("model_type {} begins with decoder_start_token_id, which must be stated and not negative",
                   type);
    return 1;
  }
  const SymbolicShape* given = facts.shape(inputs.first_words);
  require_sizes("decoder_input_ids", given, {size_of(facts.shape(0), 0), std::nullopt},
                "the first words of each entry");
  if (given != nullptr && count_of(sizes_of(*given)) == 0)
    fail_invalid("decoder_input_ids is {}: it holds no words", to_string(*given));
  return size_of(given, 1);
}

void check_lengths(const NodeFacts& facts, Size begun) {
  const Size most = number_in(facts, 1), least = number_in(facts, 2);
  if (!most) return;
  if (*most > most_generated) fail_invalid("max_length is {}, but must be at most {}", *most, most_generated);
  if (begun && *most <= *begun)
    fail_invalid("max_length is {}, but must be above {}, the number of words that the search begins with",
                 *most, *begun);
  if (least && *least >= *most)
    fail_invalid("min_length is {}, but must be below max_length, {}", *least, *most);
}

void check_beams(const NodeFacts& facts) {
  const Size beams = number_in(facts, 3), returned = number_in(facts, 4);
  if (beams && (*beams < 1 || *beams > most_beams))
    fail_invalid("num_beams is {}, but must be in [1, {}]", *beams, most_beams);
  if (returned && (*returned < 1 || (beams && *returned > *beams)))
    fail_invalid("num_return_sequences is {}, but must be in [1, num_beams]", *returned);
}

void check_processor(const NodeFacts& facts, std::int64_t type, std::size_t input) {
  const Size processor = number_in(facts, input);
  if (processor && *processor < 0)
    fail_invalid("logits_processor is {}, but must not be negative", *processor);
  if (type != speech_encoder || processor != 1) return;
  const std::int64_t first = facts.int_attribute("beginning_timestamp_token_id", -1);
  if (first <= 0)
    fail_invalid(
        "logits_processor is 1, but beginning_timestamp_token_id is {}: it must be stated and positive",
        first);
}

}  // namespace

void check_search(const NodeFacts& facts) {
  const bool keeps_beams = facts.op_type().ends_with("BeamSearch");
  const SearchInputs& inputs = keeps_beams ? of_beams : of_one;
  const bool speech = facts.op_type() == "WhisperBeamSearch";
  const std::int64_t type = keeps_beams
                                ? facts.int_attribute("model_type", speech ? speech_encoder : decoder_alone)
                                : decoder_alone;
  check_prompt(facts, type);
  if (type != speech_encoder && facts.shape(0) != nullptr)
    require_sizes("attention_mask", facts.shape(inputs.mask), sizes_of(*facts.shape(0)), "as input_ids");
  check_lengths(facts, first_length(facts, type, inputs));
  if (keeps_beams) check_beams(facts);
  const auto penalty = numbers_in(facts, inputs.penalty);
  if (penalty && penalty->size() == 1 && !(penalty->front() > 0))
    fail_invalid("repetition_penalty is {}, but must be positive", penalty->front());
  if (keeps_beams) check_processor(facts, type, inputs.processor);
}

}  // namespace grurun::opset
