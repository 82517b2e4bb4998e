#include <fmt/format.h>

#include <algorithm>

#include "onnx/defs/shape_inference.h"
#include "opset/schema/added/microsoft.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// words, positions, segments, gamma and beta are names of values.
struct Embeddings {
  std::string words, positions, segments, gamma, beta, out, mask_index;
};

std::string embed(const BodyNode& node, const Embeddings& of, bool has_position_ids) {
  std::string nodes = fmt::format("words = Gather({}, input_ids) ", of.words);
  if (has_position_ids) {
    nodes += fmt::format("places = Gather({}, position_ids) ", of.positions);
  } else {
    nodes += fmt::format(
        "origin = Constant <value_ints = [0]> () length = Shape <start = 1, end = 2> (input_ids) "
        "places = Slice({}, origin, length, origin) ",
        of.positions);
  }
  nodes += "placed = Add(words, places) ";
  nodes += of.segments.empty()
               ? "sum = Identity(placed) "
               : fmt::format("segments = Gather({}, segment_ids) sum = Add(placed, segments) ", of.segments);
  nodes += fmt::format("{} = LayerNormalization <axis = -1, epsilon: float = @epsilon> (sum, {}, {}) ",
                       of.out, of.gamma, of.beta);
  if (!node.wants(of.mask_index)) {
    node.accept_input("mask");  // it counts for mask_index alone
    return nodes;
  }
  if (node.has("mask")) {
    return nodes + fmt::format(
                       "along = Constant <value_ints = [1]> () "
                       "{} = ReduceSum <keepdims = 0> (mask, along) ",
                       of.mask_index);
  }
  return nodes + fmt::format(
                     "rows = Shape <start = 0, end = 1> (input_ids) "
                     "{} = ConstantOfShape <value = int32[1] {{0}}> (rows) ",
                     of.mask_index);
}

std::string embed_body(const BodyNode& node) {
  node.integer("mask_index_type");  // says what mask_index is to be, where it is an output
  const Embeddings of = {"word_embedding",
                         "position_embedding",
                         node.has("segment_embedding") ? "segment_embedding" : "",
                         "gamma",
                         "beta",
                         "output",
                         "mask_index"};
  const std::string nodes = embed(node, of, node.has("position_ids"));
  return node.wants("embedding_sum") ? nodes + "embedding_sum = Identity(sum) " : nodes;
}

std::string quantized_embed_body(const BodyNode& node) {
  std::string nodes;
  const auto real = [&](const char* name, const char* tensor) {
    nodes += fmt::format(
        "{0}_step = Squeeze({0}_scale) {0}_zero = Squeeze({0}_zero_point) "
        "{0}_real = DequantizeLinear({1}, {0}_step, {0}_zero) ",
        name, tensor);
    return fmt::format("{}_real", name);
  };
  Embeddings of;
  of.words = real("word_embedding", "word_embedding_quant");
  of.positions = real("position_embedding", "position_embedding_quant");
  if (node.has("segment_embedding")) of.segments = real("segment_embedding", "segment_embedding");
  of.gamma = real("gamma", "gamma_quant");
  of.beta = real("beta", "beta_quant");
  of.out = "layernorm_out", of.mask_index = "mask_index_out";
  return nodes + embed(node, of, false);
}

// The standard's, whose positions are given for each row of the batch and each place.
std::string rotary_body(const BodyNode& node) {
  // Both are without effect in the package.
  node.integer("is_packed_batching"), node.number("scale");
  const std::size_t rank = node.rank("input");
  const std::int64_t length = node.dim("input", rank == 4 ? 2 : 1);
  std::string nodes, positions = "position_ids";
  if (node.rank("position_ids") < 2) {
    nodes += fmt::format(
        "first = Constant <value_int = 0> () end = Constant <value_int = {}> () "
        "one = Constant <value_int = 1> () steps = Range(first, end, one) "
        "places = Add(steps, position_ids) shape = Constant <value_ints = {}> () "
        "positions = Expand(places, shape) ",
        length, list_text({node.dim("input", 0), length}));
    positions = "positions";
  }
  std::int64_t heads = node.integer("num_heads");
  if (rank == 3 && heads == 0)
    heads = node.dim("input", 2) / (2 * std::max<std::int64_t>(1, node.dim("cos_cache", 1)));
  return nodes +
         fmt::format(
             "output = RotaryEmbedding <interleaved: int = @interleaved{}, rotary_embedding_dim: int = "
             "@rotary_embedding_dim> (input, cos_cache, sin_cache, {}) ",
             rank == 3 ? fmt::format(", num_heads = {}", heads) : "", positions);
}

void require_sections(const std::vector<std::int64_t>& sections, std::int64_t half) {
  const auto too_long = [&](std::int64_t size) { return size < 0 || size > half; };
  if (sections.size() != 3 || std::ranges::any_of(sections, too_long) ||
      sections[0] + sections[1] + sections[2] != half)
    fail_invalid("mrope_section is {}, but must be three sizes whose sum is {}", list_text(sections), half);
}

// For each column of the caches, which of the three positions of a token it follows.
std::vector<std::int64_t> followed_positions(const BodyNode& node, std::int64_t half) {
  const std::vector<std::int64_t> sections = node.integers("mrope_section");
  require_sections(sections, half);
  std::vector<std::int64_t> followed(static_cast<std::size_t>(half), 0);
  const std::int64_t layout = node.integer("mrope_layout");
  if (layout != 0 && layout != 1) fail_invalid("mrope_layout is {}, but must be 0 or 1", layout);
  for (std::int64_t position = 1; position < 3; ++position) {
    const std::int64_t size = sections[static_cast<std::size_t>(position)];
    const std::int64_t first = layout == 1 ? position : sections[0] + (position == 2 ? sections[1] : 0);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t at = first + i * (layout == 1 ? 3 : 1);
      if (at < half) followed[static_cast<std::size_t>(at)] = position;
    }
  }
  return followed;
}

void infer_multimodal_rotary(onnx::InferenceContext& context) {
  onnx::propagateShapeAndTypeFromFirstInput(context);
  const onnx::AttributeProto* sections = context.getAttribute("mrope_section");
  if (sections == nullptr || !onnx::hasInputShape(context, 2)) return;
  const auto& cache = onnx::getInputShape(context, 2);
  // What the kernel takes: above it, sums of sizes may not be numbers.
  if (cache.dim_size() != 2 || !cache.dim(1).has_dim_value() || cache.dim(1).dim_value() > (1 << 20)) return;
  require_sections({sections->ints().begin(), sections->ints().end()}, cache.dim(1).dim_value());
}

// The standard's, whose caches hold for each token what its positions in time, height and width give.
std::string multimodal_rotary_body(const BodyNode& node) {
  node.integer("is_packed_batching");  // without effect in the package
  const std::size_t rank = node.rank("input");
  const std::int64_t half = node.dim("cos_cache", 1);
  if (half > (1 << 20)) fail_unsupported("MRotaryEmbedding with caches of {} columns", half);
  std::string nodes =
      fmt::format("followed = Constant <value_ints = {}> () ", list_text(followed_positions(node, half)));
  nodes +=
      "height = Constant <value_int = 1> () width = Constant <value_int = 2> () "
      "is_height = Equal(followed, height) is_width = Equal(followed, width) ";
  for (const char* name : {"cos", "sin"}) {
    nodes += fmt::format(
        "{0}_all = Gather({0}_cache, position_ids) "
        "{0}_t, {0}_h, {0}_w = Split <axis = 0, num_outputs = 3> ({0}_all) "
        "{0}_th = Where(is_height, {0}_h, {0}_t) {0}_thw = Where(is_width, {0}_w, {0}_th) "
        "{0}_axis = Constant <value_ints = [0]> () {0}_plain = Squeeze({0}_thw, {0}_axis) {1}",
        name,
        node.gives("scale") ? fmt::format("{0}_real = Constant <value_float: float = @scale> () "
                                          "{0}_factor = CastLike({0}_real, input) "
                                          "{0}_of_token = Mul({0}_plain, {0}_factor) ",
                                          name)
                            : fmt::format("{0}_of_token = Identity({0}_plain) ", name));
  }
  std::int64_t heads = node.integer("num_heads");
  if (rank == 3 && heads == 0) heads = node.dim("input", 2) / std::max<std::int64_t>(1, 2 * half);
  return nodes +
         fmt::format(
             "output = RotaryEmbedding <interleaved: int = @interleaved{}, rotary_embedding_dim: int = "
             "@rotary_embedding_dim> (input, cos_of_token, sin_of_token) ",
             rank == 3 ? fmt::format(", num_heads = {}", heads) : "");
}

constexpr AddedOperator embedding_rows[] = {
    {"EmbedLayerNormalization",
     "output = LayerNormalization of the sum of the embeddings of words, positions and segments. mask_index "
     "counts "
     "the ones in each row of mask.",
     "epsilon: float = 1e-12; mask_index_type: int = 0",
     "input_ids: T1; segment_ids: T1?; word_embedding: T; position_embedding: T; segment_embedding: T?; "
     "gamma: T; "
     "beta: T; mask: T1?; position_ids: T1?",
     "output: T; mask_index: T1?; embedding_sum: T?", "T1: int32; T: float, float16", embed_body},
    {"MRotaryEmbedding",
     "RotaryEmbedding whose angles follow three positions of a token, in time, height and width.",
     "interleaved: int = 0; is_packed_batching: int = 0; mrope_layout: int = 0; mrope_section: ints!; "
     "num_heads: int = 0; rotary_embedding_dim: int = 0; scale: float",
     "input: T; position_ids: M; cos_cache: T; sin_cache: T", "output: T",
     "T: float, float16, bfloat16; M: int64", multimodal_rotary_body, infer_multimodal_rotary},
    {"QEmbedLayerNormalization", "EmbedLayerNormalization of quantized embeddings.", "epsilon: float = 1e-12",
     "input_ids: T1; segment_ids: T1?; word_embedding_quant: T2; position_embedding_quant: T2; "
     "segment_embedding: T2?; gamma_quant: T2; beta_quant: T2; mask: T1?; word_embedding_scale: T; "
     "position_embedding_scale: T; segment_embedding_scale: T?; gamma_scale: T; beta_scale: T; "
     "word_embedding_zero_point: T2; position_embedding_zero_point: T2; segment_embedding_zero_point: T2?; "
     "gamma_zero_point: T2; beta_zero_point: T2",
     "layernorm_out: T; mask_index_out: T1", "T1: int32; T2: int8, uint8; T: float", quantized_embed_body},
    {"RotaryEmbedding",
     "RotaryEmbedding of ai.onnx. position_ids [1] is the place of the first element, else [batch_size, "
     "length] has "
     "each.",
     "interleaved: int = 0; is_packed_batching: int = 0; num_heads: int = 0; rotary_embedding_dim: int = 0; "
     "scale: float",
     "input: T; position_ids: M; cos_cache: T; sin_cache: T", "output: T",
     "T: float, float16, bfloat16; M: int64", rotary_body, onnx::propagateShapeAndTypeFromFirstInput},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_embedding_schemas() {
  return schemas_of(embedding_rows, "com.microsoft");
}

}  // namespace grurun::opset
