// What models with several streams of hidden states are made of: norms and gates that compute in float32
// whatever the type.
#include <fmt/format.h>

#include <algorithm>

#include "opset/schema/added/microsoft.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

std::string widened(std::string_view in, std::string_view out) {
  return fmt::format("{} = Cast <to = 1> ({}) ", out, in);
}

std::string narrowed(std::string_view in, std::string_view out, std::string_view like) {
  return fmt::format("{} = CastLike({}, {}) ", out, in, like);
}

std::string shaped(std::string_view in, std::string_view out, const std::vector<std::int64_t>& shape) {
  return fmt::format("{0}_shape = Constant <value_ints = {1}> () {0} = Reshape({2}, {0}_shape) ", out,
                     list_text(shape), in);
}

// As many axes as kept from the input, and then others.
std::vector<std::int64_t> keeping(std::size_t kept, std::vector<std::int64_t> others) {
  others.insert(others.begin(), kept, 0);
  return others;
}

// out = in / sqrt(mean(in^2) + epsilon) over the last axis.
std::string rms(std::string_view in, std::string_view out) {
  return fmt::format(
      "{1}_squares = Mul({0}, {0}) {1}_last = Constant <value_ints = [-1]> () "
      "{1}_mean = ReduceMean({1}_squares, {1}_last) "
      "{1}_least = Constant <value_float: float = @epsilon> () {1}_some = Add({1}_mean, {1}_least) "
      "{1}_root = Sqrt({1}_some) {1} = Div({0}, {1}_root) ",
      in, out);
}

// How many streams lie in the last axis; 0 where they have an axis of their own.
std::int64_t flat_streams(const BodyNode& node) {
  const std::int64_t streams = node.integer("num_branches");
  if (streams < 0) fail_invalid("num_branches is {}: no number of branches", streams);
  return streams;
}

// How many axes an input has in front of its last ones, which it must have.
std::size_t axes_before(const BodyNode& node, std::string_view in, std::size_t last) {
  const std::size_t rank = node.rank(in);
  if (rank < last) fail_invalid("input {} has the rank {}, which is too low", in, rank);
  return rank - last;
}

// out [..., C, H], in float32.
std::string grouped(const BodyNode& node, const char* in, std::string_view out) {
  const std::int64_t streams = flat_streams(node);
  if (streams == 0) return widened(in, out);
  const std::size_t outer = axes_before(node, in, 1);
  return widened(in, fmt::format("{}_flat", out)) +
         shaped(fmt::format("{}_flat", out), out, keeping(outer, {streams, node.dim(in, outer) / streams}));
}

std::string branchwise_body(const BodyNode& node) {
  const std::int64_t streams = flat_streams(node);
  std::string nodes = grouped(node, "X", "wide") + rms("wide", "normal");
  if (node.has("scale")) {
    const std::int64_t last = node.dim("X", axes_before(node, "X", 1));
    const std::int64_t hidden = streams == 0 ? last : last / streams;
    nodes += widened("scale", "wide_scale");
    const bool one_for_all = node.rank("scale") == 1 && node.dim("scale", 0) == hidden;
    nodes += one_for_all ? std::string("factor = Identity(wide_scale) ")
                         : shaped("wide_scale", "factor", {-1, hidden});
    nodes += "scaled = Mul(normal, factor) ";
  } else {
    nodes += "scaled = Identity(normal) ";
  }
  return nodes + "shape = Shape(X) flat = Reshape <allowzero = 1> (scaled, shape) " +
         narrowed("flat", "Y", "X");
}

std::string gated_rms_body(const BodyNode& node) {
  const std::string activation = node.text("activation");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid")
    fail_invalid("no activation of GatedRMSNorm: {}", activation);
  std::string nodes = widened("X", "whole");
  const std::size_t outer = axes_before(node, "X", 1);
  const std::int64_t size = node.dim("scale", 0);
  if (size < 1) fail_invalid("scale has {} elements", size);
  nodes += shaped("whole", "wide", keeping(outer, {node.dim("X", outer) / size, size}));
  nodes += rms("wide", "normal") + widened("scale", "factor") +
           "scaled = Mul(normal, factor) shape = Shape(X) flat = Reshape <allowzero = 1> (scaled, shape) ";
  nodes += widened("gate", "z") + "opened = Sigmoid(z) ";
  nodes += activation == "sigmoid" ? "gated = Identity(opened) " : "gated = Mul(z, opened) ";
  return nodes + "product = Mul(flat, gated) " + narrowed("product", "Y", "X");
}

std::string gated_add_body(const BodyNode&) {
  return "product = Mul(Y, gate) output = Add(X, product)";
}

std::string scaled_silu_body(const BodyNode& node) {
  node.number("alpha");  // without effect where there is a scale
  std::string nodes = widened("X", "wide");
  nodes += node.has("scale") ? widened("scale", "given") + "factor = Squeeze(given) "
                             : std::string("factor = Constant <value_float: float = @alpha> () ");
  nodes += "z_wide = Mul(wide, factor) " + narrowed("z_wide", "z", "X") + widened("z", "z_again") +
           "opened = Sigmoid(z_again) " + narrowed("opened", "s", "X") + widened("s", "s_again");
  return nodes + "product = Mul(z_again, s_again) " + narrowed("product", "Y", "X");
}

std::string pre_mix_body(const BodyNode& node) {
  const std::size_t rank = node.rank("pre_mix");
  const std::size_t outer = axes_before(node, "streams", flat_streams(node) == 0 ? 2 : 1);
  std::string nodes = grouped(node, "streams", "wide") + widened("pre_mix", "mix");
  const std::int64_t streams = flat_streams(node) == 0 ? node.dim("streams", outer) : flat_streams(node);
  if (streams < 1) fail_invalid("there are {} streams", streams);
  nodes += rank == outer + 1
               ? shaped("mix", "weights", keeping(outer, {streams, node.dim("pre_mix", outer) / streams}))
               : std::string("weights = Identity(mix) ");
  nodes +=
      "parts = Mul(wide, weights) axis = Constant <value_ints = [-2]> () "
      "sum = ReduceSum <keepdims = 0> (parts, axis) "
      "factor = Constant <value_float: float = @reduction_scale> () scaled = Mul(sum, factor) ";
  return nodes + narrowed("scaled", "output", "streams");
}

std::string post_mix_body(const BodyNode& node) {
  const std::size_t outer = axes_before(node, "streams", flat_streams(node) == 0 ? 2 : 1);
  std::string nodes = grouped(node, "streams", "wide");
  if (node.has("stream_mix")) {
    std::vector<std::int64_t> perm;
    for (std::size_t i = 0; i < outer; ++i) perm.push_back(static_cast<std::int64_t>(i));
    perm.push_back(static_cast<std::int64_t>(outer) + 1), perm.push_back(static_cast<std::int64_t>(outer));
    nodes +=
        widened("stream_mix", "mix") +
        fmt::format("turned = Transpose <perm = {}> (mix) kept = MatMul(turned, wide) ", list_text(perm));
  } else {
    nodes += "kept = Identity(wide) ";
  }
  nodes += widened("post_mix", "post") + widened("block_output", "block");
  nodes += node.rank("post_mix") == outer + 1
               ? "last = Constant <value_ints = [-1]> () weights = Unsqueeze(post, last) "
               : "weights = Identity(post) ";
  nodes +=
      "before = Constant <value_ints = [-2]> () row = Unsqueeze(block, before) added = Mul(weights, row) "
      "all = Add(kept, added) shape = Shape(streams) flat = Reshape <allowzero = 1> (all, shape) ";
  return nodes + narrowed("flat", "output", "streams");
}

std::string attention_gate_body(const BodyNode& node) {
  std::string nodes = widened("a", "wide") +
                      "biased = Add(wide, dt_bias) soft = Softplus(biased) scaled = Mul(decay_scale, soft) " +
                      narrowed("scaled", "decay", "a");
  node.accept_input("b");  // of no effect without beta
  if (node.wants("beta"))
    nodes += widened("b", "rate") + "opened = Sigmoid(rate) " + narrowed("opened", "beta", "b");
  return nodes;
}

std::string engram_gate_body(const BodyNode& node) {
  const std::int64_t hidden = node.dim("key", 3);
  std::string nodes;
  for (const char* name : {"key", "query"}) {
    nodes += widened(name, fmt::format("{}_wide", name)) +
             rms(fmt::format("{}_wide", name), fmt::format("{}_normal", name)) +
             widened(fmt::format("{}_norm_scale", name), fmt::format("{}_factor", name)) +
             fmt::format("{0}_scaled = Mul({0}_normal, {0}_factor) ", name);
  }
  nodes += fmt::format(
      "products = Mul(key_scaled, query_scaled) last = Constant <value_ints = [-1]> () "
      "sum = ReduceSum(products, last) size = Constant <value_float = {}.0> () root = Sqrt(size) "
      "dot = Div(sum, root) sign = Sign(dot) size_of_dot = Abs(dot) "
      "least = Constant <value_float = 1e-6> () bounded = Max(size_of_dot, least) "
      "bounded_root = Sqrt(bounded) signed_root = Mul(sign, bounded_root) gate = Sigmoid(signed_root) ",
      hidden);
  nodes += widened("value", "value_wide") +
           "stream = Constant <value_ints = [2]> () value_row = Unsqueeze(value_wide, stream) "
           "gated = Mul(gate, value_row) " +
           narrowed("gated", "output", "key");
  if (node.wants("gated_value_normed")) {
    if (!node.has("conv_norm_scale")) fail_invalid("gated_value_normed needs the input conv_norm_scale");
    nodes += rms("gated", "gated_normal") + widened("conv_norm_scale", "conv_factor") +
             "gated_scaled = Mul(gated_normal, conv_factor) " +
             narrowed("gated_scaled", "gated_value_normed", "key");
  }
  return nodes;
}

constexpr const char* floating = "T: float, float16, bfloat16";
constexpr const char* two_floating = "T: float, float16, bfloat16; M: float, float16, bfloat16";

constexpr AddedOperator stream_rows[] = {
    {"BranchwiseRMSNorm", "Y = scale * X / sqrt(mean(X^2) + epsilon) over the last axis of each branch.",
     "epsilon: float = 1e-5; num_branches: int = 0", "X: T; scale: M?", "Y: T", two_floating,
     branchwise_body},
    {"EngramGate",
     "output = gate * value, gate being the sigmoid of the signed root of what normed keys and queries have "
     "in "
     "common.",
     "epsilon: float = 1e-5",
     "key: T; query: T; value: T; key_norm_scale: T; query_norm_scale: T; conv_norm_scale: T?",
     "output: T; gated_value_normed: T?", floating, engram_gate_body},
    {"GatedAdd", "output = X + Y * gate.", "", "X: T; Y: T; gate: T; gate_weight: T?", "output: T", floating,
     gated_add_body},
    {"GatedRMSNorm", "Y = activation(gate) * scale * X / sqrt(mean(X^2) + epsilon), for each C elements.",
     "activation: string = silu; epsilon: float = 1e-5", "X: T; scale: T; gate: T", "Y: T", floating,
     gated_rms_body},
    {"HyperConnectionPostMix", "output: the streams mixed with each other, and block_output times post_mix.",
     "num_branches: int = 0", "streams: T; block_output: T; post_mix: M; stream_mix: M?", "output: T",
     two_floating, post_mix_body},
    {"HyperConnectionPreMix", "output = reduction_scale * the sum of the streams times pre_mix.",
     "num_branches: int = 0; reduction_scale: float = 1", "streams: T; pre_mix: M", "output: T", two_floating,
     pre_mix_body},
    {"LinearAttentionGate", "decay = decay_scale * Softplus(a + dt_bias); beta = Sigmoid(b).", "",
     "a: T; dt_bias: TF; decay_scale: TF; b: T?", "decay: T; beta: T?",
     "T: float, float16, bfloat16; TF: float", attention_gate_body},
    {"ScaledSiLU", "Y = Z * Sigmoid(Z), Z = scale * X; each is rounded to T.", "alpha: float = 1",
     "X: T; scale: M?", "Y: T", two_floating, scaled_silu_body},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_stream_schemas() {
  return schemas_of(stream_rows, "com.microsoft");
}

}  // namespace grurun::opset
