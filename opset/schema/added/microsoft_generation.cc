// Searches for sequences of words: operators with bodies.
#include <algorithm>

#include "onnx/defs/shape_inference.h"
#include "onnx/defs/tensor_proto_util.h"
#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

// What an input of one int32 holds; 0 where it is not known.
std::int64_t known_number(InferenceContext& context, std::size_t input) {
  const onnx::TensorProto* data = context.getInputData(input);
  if (data == nullptr) return 0;
  const auto numbers = onnx::ParseData<std::int32_t>(data);
  return numbers.size() == 1 ? numbers[0] : 0;
}

void add_size(TensorShapeProto& shape, std::int64_t size) {
  auto& dim = *shape.add_dim();
  if (size > 0) dim.set_dim_value(size);
}

void add_batch(InferenceContext& context, TensorShapeProto& shape) {
  auto& batch = *shape.add_dim();
  if (onnx::hasInputShape(context, 0) && onnx::getInputShape(context, 0).dim_size() > 0)
    batch = onnx::getInputShape(context, 0).dim(0);
}

// sequences [batch_size, max_length], filtered_logits [batch_size, vocab_size].
void infer_greedy(InferenceContext& context) {
  TensorShapeProto sequences, logits;
  add_batch(context, sequences), add_size(sequences, known_number(context, 1));
  add_batch(context, logits), add_size(logits, onnx::getAttribute(context, "vocab_size", -1));
  onnx::updateOutputElemType(context, 0, onnx::TensorProto::INT32);
  onnx::updateOutputShape(context, 0, sequences);
  if (context.getNumOutputs() < 2) return;
  onnx::updateOutputElemType(context, 1, onnx::TensorProto::FLOAT);
  onnx::updateOutputShape(context, 1, logits);
}

// sequences [batch_size, num_return_sequences, max_length], sequences_scores without the last axis, scores
// [steps, batch_size, num_beams, vocab_size], non_speech_probs [batch_size].
void infer_beams(InferenceContext& context) {
  TensorShapeProto best, scores;
  add_batch(context, best), add_size(best, known_number(context, 4));
  TensorShapeProto sequences = best;
  add_size(sequences, known_number(context, 1));
  scores.add_dim(), add_batch(context, scores), add_size(scores, known_number(context, 3));
  add_size(scores, onnx::getAttribute(context, "vocab_size", -1));
  const TensorShapeProto* shapes[] = {&sequences, &best, &scores};
  for (std::size_t i = 0; i < std::min<std::size_t>(3, context.getNumOutputs()); ++i) {
    onnx::updateOutputElemType(context, i, i == 0 ? onnx::TensorProto::INT32 : onnx::TensorProto::FLOAT);
    onnx::updateOutputShape(context, i, *shapes[i]);
  }
  if (context.getNumOutputs() > 3) onnx::updateOutputElemType(context, 3, onnx::TensorProto::FLOAT);
  if (context.getNumOutputs() < 5) return;
  TensorShapeProto probabilities;
  add_batch(context, probabilities);
  onnx::updateOutputElemType(context, 4, onnx::TensorProto::FLOAT);
  onnx::updateOutputShape(context, 4, probabilities);
}

constexpr AddedOperator generation_rows[] = {
    {"BeamSearch", "sequences: the likeliest that the decoder makes, num_beams being kept at each step.",
     "decoder: graph!; decoder_start_token_id: int = -1; early_stopping: int = 0; encoder: graph; "
     "eos_token_id: int!; init_decoder: graph; model_type: int = 0; no_repeat_ngram_size: int = 0; "
     "pad_token_id: int!; vocab_size: int = -1",
     "input_ids: F; max_length: I; min_length: I?; num_beams: I; num_return_sequences: I; length_penalty: "
     "T?; "
     "repetition_penalty: T?; vocab_mask: M?; prefix_vocab_mask: M?; attention_mask: I?; decoder_input_ids: "
     "I?; "
     "logits_processor: I?",
     "sequences: I; sequences_scores: T?; scores: T?",
     "T: float, float16; F: float, int32, float16; I: int32; M: int32", nullptr, infer_beams},
    {"GreedySearch", "sequences: input_ids, and the likeliest word after each, as the decoder has it.",
     "decoder: graph!; decoder_start_token_id: int = -1; encoder: graph; eos_token_id: int!; "
     "init_decoder: graph; model_type: int = 0; no_repeat_ngram_size: int = 0; pad_token_id: int!; "
     "vocab_size: int = -1",
     "input_ids: I; max_length: I; min_length: I?; repetition_penalty: T?; vocab_mask: I?; "
     "prefix_vocab_mask: I?; attention_mask: I?",
     "sequences: I", "T: float; I: int32", nullptr, infer_greedy},
    {"Sampling", "sequences: input_ids, and words that are drawn from the likeliest, as the decoder has it.",
     "custom: int = 0; decoder: graph!; decoder_start_token_id: int = -1; encoder: graph; eos_token_id: "
     "int!; "
     "filter_value: float = -1e20; init_decoder: graph; min_tokens_to_keep: int = 0; model_type: int = 0; "
     "no_repeat_ngram_size: int = 0; pad_token_id: int!; presence_penalty: float = 0; temperature: float = "
     "1; "
     "top_p: float = 0; vocab_size: int = -1",
     "input_ids: I; max_length: I; min_length: I?; repetition_penalty: T?; vocab_mask: I?; "
     "prefix_vocab_mask: I?; attention_mask: I?; presence_mask: I?; seed: I?",
     "sequences: I; filtered_logits: T?", "T: float; I: int32", nullptr, infer_greedy},
    {"WhisperBeamSearch",
     "sequences: the likeliest words of speech that the decoder makes, num_beams being kept at each step.",
     "beginning_timestamp_token_id: int = -1; decoder: graph!; decoder_output_cross_qk: int = 0; "
     "decoder_start_token_id: int = -1; early_stopping: int = 0; encoder: graph; eos_token_id: int!; "
     "init_decoder: graph; model_type: int = 2; no_repeat_ngram_size: int = 0; no_speech_token_id: int = -1; "
     "no_timestamps_token_id: int = -1; pad_token_id: int!; start_of_lm_token_id: int = -1; "
     "transcribe_token_id: int = -1; translate_token_id: int = -1; vocab_size: int = -1",
     "input_ids: F; max_length: I; min_length: I?; num_beams: I; num_return_sequences: I; length_penalty: "
     "T?; repetition_penalty: T?; vocab_mask: M?; prefix_vocab_mask: M?; attention_mask: I?; "
     "decoder_input_ids: I?; logits_processor: I?; cross_qk_layer_head: I?; extra_decoding_ids: I?; "
     "temperature: T?",
     "sequences: I; sequences_scores: T?; scores: T?; cross_qk: V?; non_speech_probs: T?",
     "T: float, float16; F: float, int32, float16; I: int32; M: int32; V: float", nullptr, infer_beams},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_generation_schemas() {
  return schemas_of(generation_rows, "com.microsoft");
}

}  // namespace grurun::opset
