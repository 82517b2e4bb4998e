// Text, and numbers of words: operators that are no compositions.
#include <algorithm>

#include "onnx/defs/shape_inference.h"
#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

// A new last axis, unless X is known to be empty, which stays as it is.
void infer_tokens(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  if (!onnx::hasInputShape(context, 0)) return;
  TensorShapeProto shape = onnx::getInputShape(context, 0);
  for (const auto& dim : shape.dim())
    if (!dim.has_dim_value() || dim.dim_value() == 0) return;
  shape.add_dim();
  onnx::updateOutputShape(context, 0, shape);
}

void infer_hash(InferenceContext& context) {
  const bool positive = onnx::getAttribute(context, "positive", 1) == 1;
  onnx::updateOutputElemType(context, 0, positive ? onnx::TensorProto::UINT32 : onnx::TensorProto::INT32);
  if (onnx::hasInputShape(context, 0)) onnx::propagateShapeFromInputToOutput(context, 0, 0);
}

std::int64_t hash_heads(InferenceContext& context) {
  const std::int64_t largest = onnx::getAttribute(context, "max_ngram_size", 0);
  const std::int64_t heads = onnx::getAttribute(context, "n_head_per_ngram", 0);
  constexpr std::int64_t most = 1 << 20;
  return largest < 2 || heads < 1 || largest > most || heads > most ? 0 : (largest - 1) * heads;
}

// hash_ids: the shape of input_ids and a new last axis.
void infer_hash_ids(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const std::int64_t heads = hash_heads(context);
  if (!onnx::hasInputShape(context, 0) || heads == 0) return;
  TensorShapeProto shape = onnx::getInputShape(context, 0);
  shape.add_dim()->set_dim_value(heads);
  onnx::updateOutputShape(context, 0, shape);
}

void add_window(InferenceContext& context, TensorShapeProto& shape) {
  shape.add_dim()->set_dim_value(onnx::getAttribute(context, "max_ngram_size", 2) - 1);
}

void infer_ngram_hash(InferenceContext& context) {
  infer_hash_ids(context);
  if (context.getNumOutputs() < 2) return;
  onnx::propagateElemTypeFromInputToOutput(context, 0, 1);
  if (!onnx::hasInputShape(context, 0) || onnx::getInputShape(context, 0).dim_size() != 2) return;
  TensorShapeProto present;
  *present.add_dim() = onnx::getInputShape(context, 0).dim(0);
  add_window(context, present);
  onnx::updateOutputShape(context, 1, present);
}

void infer_packed_ngram_hash(InferenceContext& context) {
  infer_hash_ids(context);
  TensorShapeProto present;
  auto& batch = *present.add_dim();
  if (onnx::hasInputShape(context, 3) && onnx::getInputShape(context, 3).dim_size() == 1) {
    const auto& ends = onnx::getInputShape(context, 3).dim(0);
    if (ends.has_dim_value() && ends.dim_value() > 0) batch.set_dim_value(ends.dim_value() - 1);
  }
  TensorShapeProto update = present;
  update.add_dim()->set_dim_value(onnx::getAttribute(context, "state_update_capacity", 0));
  add_window(context, present), add_window(context, update);
  for (std::size_t i = 1; i < context.getNumOutputs(); ++i) {
    if (i == 2) {
      onnx::updateOutputElemType(context, i, onnx::TensorProto::INT32);
    } else {
      onnx::propagateElemTypeFromInputToOutput(context, 0, i);
    }
    onnx::updateOutputShape(context, i, i == 3 ? update : present);
  }
}

void infer_bifurcation(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  TensorShapeProto tokens;
  tokens.add_dim();
  onnx::updateOutputShape(context, 0, tokens);
  if (context.getNumOutputs() < 2) return;
  onnx::propagateElemTypeFromInputToOutput(context, 2, 1);
  if (onnx::hasInputShape(context, 2)) onnx::propagateShapeFromInputToOutput(context, 2, 1);
}

void infer_scores(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 1, 0);
  if (onnx::hasInputShape(context, 1)) onnx::propagateShapeFromInputToOutput(context, 1, 0);
}

// Y [words, embedding_size].
void infer_word_embedding(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 1, 0);
  TensorShapeProto shape;
  auto &words = *shape.add_dim(), &size = *shape.add_dim();
  if (onnx::hasInputShape(context, 0) && onnx::getInputShape(context, 0).dim_size() > 0)
    words = onnx::getInputShape(context, 0).dim(0);
  if (onnx::hasInputShape(context, 1) && onnx::getInputShape(context, 1).dim_size() > 0)
    size = onnx::getInputShape(context, 1).dim(0);
  onnx::updateOutputShape(context, 0, shape);
}

constexpr AddedOperator text_rows[] = {
    {"BifurcationDetector",
     "tokens: cur_tokens, and pred_tokens as far as they agree with src_tokens from prev_suffix_match_idx "
     "on, "
     "and one more. suffix_match_idx: where what ends tokens stands in src_tokens, if once, else -1.",
     "max_ngram_size: int = 3; min_ngram_size: int = 1",
     "src_tokens: T; cur_tokens: T; prev_suffix_match_idx: T; pred_tokens: T?",
     "tokens: T; suffix_match_idx: T", "T: int64", nullptr, infer_bifurcation},
    {"MurmurHash3", "Y: the MurmurHash3_x86_32 of the bytes of each element of X.",
     "positive: int = 1; seed: int = 0", "X: T1", "Y: T2",
     "T1: uint32, int32, uint64, int64, float, double, string; T2: uint32, int32", nullptr, infer_hash},
    {"NGramHashMapping",
     "hash_ids: for each n from 2 to max_ngram_size and each head, the exclusive or of the last n ids times "
     "multipliers, modulo vocab_sizes.",
     "max_ngram_size: int!; n_head_per_ngram: int!; pad_id: int!; reset_on_eos: int = 0",
     "input_ids: M; multipliers: M; vocab_sizes: M; past_ids: M?; head_offsets: M?; eos_token_id: M?; "
     "segment_ids: tensor(int32)?",
     "hash_ids: M; present_ids: M?", "M: int32, int64", nullptr, infer_ngram_hash},
    {"NGramRepeatBlock",
     "scores_out: scores, and -inf for the words that would repeat an n-gram of input_ids.",
     "ngram_size: int!", "input_ids: Tid; scores: T", "scores_out: T", "Tid: int64; T: float", nullptr,
     infer_scores},
    {"Tokenizer", "Y: the tokens of each string of X, along a new last axis.",
     "mark: int!; mincharnum: int!; pad_value: string!; separators: strings; tokenexp: string", "X: T",
     "Y: T", "T: string", nullptr, infer_tokens},
    {"VarlenNGramHashMapping", "NGramHashMapping of several sequences, one behind the other.",
     "max_ngram_size: int!; n_head_per_ngram: int!; pad_id: int!; reset_on_eos: int = 0; "
     "state_update_capacity: int = 0",
     "input_ids: M; multipliers: M; vocab_sizes: M; cumulative_sequence_length: S; past_ids: M?; "
     "head_offsets: M?; eos_token_id: M?; segment_ids: tensor(int32)?; past_segment_ids: S?; "
     "capture_count: S?",
     "hash_ids: M; present_ids: M?; present_segment_ids: S?; state_update: M?", "M: int32, int64; S: int32",
     nullptr, infer_packed_ngram_hash},
    {"WordConvEmbedding",
     "Y: for each word, the largest of Tanh(Conv(C of its characters, W) + B) over the places.",
     "char_embedding_size: int; conv_window_size: int; embedding_size: int",
     "Sequence: T; W: T1; B: T1; C: T1", "Y: T1", "T: int32; T1: float", nullptr, infer_word_embedding},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_text_schemas() {
  return schemas_of(text_rows, "com.microsoft");
}

}  // namespace grurun::opset
