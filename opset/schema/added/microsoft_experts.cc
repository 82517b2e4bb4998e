// Mixtures of experts, and how tokens are routed to them.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/defs/shape_inference.h"
#include "opset/schema/added/microsoft.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// Sigmoids of the logits [tokens, experts], and the same with the bias by which experts are chosen.
std::string expert_scores(const BodyNode& node, std::int64_t experts) {
  std::string nodes = "wide_logits = Cast <to = 1> (logits) ";
  if (node.has("projection_weight")) {
    nodes +=
        "wide_weight = Cast <to = 1> (projection_weight) columns = Transpose <perm = [1, 0]> (wide_weight) "
        "projected = MatMul(wide_logits, columns) ";
  } else {
    nodes += fmt::format("rows = Constant <value_ints = {}> () projected = Reshape(wide_logits, rows) ",
                         list_text({-1, experts}));
  }
  return nodes + "score = Sigmoid(projected) choice = Add(score, expert_bias) ";
}

// chosen: choice, and the lowest number for the experts of groups that are not taken.
std::string limited_groups(const BodyNode& node, std::int64_t experts) {
  const std::int64_t groups = node.integer("n_group"), size = experts / std::max<std::int64_t>(1, groups);
  if (groups <= 1) {
    node.integer("group_topk"), node.integer("topk_group");  // of the only group
    return "chosen = Identity(choice) ";
  }
  return fmt::format(
      "by_group = Constant <value_ints = {}> () in_groups = Reshape(choice, by_group) "
      "best = Constant <value_ints = [{}]> () best_scores, best_places = TopK(in_groups, best) "
      "last = Constant <value_ints = [-1]> () group_score = ReduceSum <keepdims = 0> (best_scores, last) "
      "taken = Constant <value_ints = [{}]> () taken_scores, taken_groups = TopK(group_score, taken) "
      "shape_of_taken = Shape(taken_groups) on = ConstantOfShape <value = bool[1] {{1}}> (shape_of_taken) "
      "shape_of_groups = Shape(group_score) "
      "all_off = ConstantOfShape <value = bool[1] {{0}}> (shape_of_groups) "
      "open = ScatterElements <axis = 1> (all_off, taken_groups, on) "
      "open_column = Unsqueeze(open, last) lowest = Constant <value_float = -3.4028234e38> () "
      "of_open = Where(open_column, in_groups, lowest) shape_of_choice = Shape(choice) "
      "chosen = Reshape(of_open, shape_of_choice) ",
      list_text({-1, groups, size}), std::min(size, node.integer("group_topk")), node.integer("topk_group"));
}

std::string router_body(const BodyNode& node) {
  const std::int64_t experts = node.dim("expert_bias", 0), groups = node.integer("n_group");
  if (groups < 1 || experts % groups != 0)
    fail_invalid("n_group is {}, which does not divide {} experts", groups, experts);
  std::string nodes = expert_scores(node, experts);
  if (node.wants("selection_scores")) nodes += "selection_scores = Identity(choice) ";
  if (node.wants("router_weights")) nodes += "router_weights = Identity(score) ";
  if (!node.wants("router_probs")) {
    for (const char* name : {"top_k", "topk_group", "group_topk"}) node.integer(name);
    node.number("router_sentinel");  // these are of the other output
    return nodes;
  }
  return nodes + limited_groups(node, experts) +
         fmt::format(
             "wanted = Constant <value_ints = [{}]> () wanted_scores, wanted_places = TopK(chosen, wanted) "
             "shape_of_wanted = Shape(wanted_places) "
             "wanted_on = ConstantOfShape <value = bool[1] {{1}}> (shape_of_wanted) "
             "shape_of_all = Shape(choice) "
             "wanted_off = ConstantOfShape <value = bool[1] {{0}}> (shape_of_all) "
             "active = ScatterElements <axis = 1> (wanted_off, wanted_places, wanted_on) "
             "least = Constant <value_float = 1e-20> () bounded = Max(score, least) log = Log(bounded) "
             "sentinel = Constant <value_float: float = @router_sentinel> () "
             "routed = Where(active, log, sentinel) router_probs = CastLike(routed, logits) ",
             node.integer("top_k"));
}

constexpr const char* expert_attributes =
    "activation_alpha: float = 1; activation_beta: float = 0; activation_type: string = relu; k: int = 1; "
    "normalize_routing_weights: int = 0; swiglu_fusion: int = 0; swiglu_limit: float; "
    "swiglu_limit_after_activation: int = 0; use_sparse_mixer: int = 0";

constexpr const char* quantized_expert_attributes =
    "accuracy_level: int = 0; activation_alpha: float = 1; activation_beta: float = 0; "
    "activation_type: string = relu; block_size: int; expert_weight_bits: int = 4; "
    "fc1_expert_weight_bits: int; fc2_expert_weight_bits: int; fc3_expert_weight_bits: int; k: int = 1; "
    "normalize_routing_weights: int = 0; quant_type: string = int; swiglu_fusion: int = 0; "
    "swiglu_limit: float; swiglu_limit_after_activation: int = 0; use_sparse_mixer: int = 0; "
    "weights_prepacked: int = -1";

constexpr AddedOperator expert_rows[] = {
    {"MoE",
     "output: what the k experts with the highest router_probs make of each token, weighted by the softmax "
     "of "
     "router_probs.",
     expert_attributes,
     "input: T; router_probs: T; fc1_experts_weights: T; fc1_experts_bias: T?; fc2_experts_weights: T; "
     "fc2_experts_bias: T?; fc3_experts_weights: T?; fc3_experts_bias: T?",
     "output: T", "T: float, float16, bfloat16", nullptr, onnx::propagateShapeAndTypeFromFirstInput},
    {"MoEGroupRouter",
     "router_probs: logarithms of the sigmoids of the top_k experts of the best groups, router_sentinel "
     "elsewhere.",
     "group_topk: int = 2; n_group: int = 1; router_sentinel: float = -10000; top_k: int!; topk_group: int = "
     "1",
     "logits: T; expert_bias: TF; projection_weight: T?",
     "router_probs: T?; selection_scores: TF?; router_weights: TF?", "T: float, float16, bfloat16; TF: float",
     router_body},
    {"QMoE", "MoE whose weights are integers of 2, 4 or 8 bits, less zero points, times scales.",
     quantized_expert_attributes,
     "input: T; router_probs: T; fc1_experts_weights: T1; fc1_scales: T2?; fc1_experts_bias: T?; "
     "fc2_experts_weights: T1; fc2_scales: T2?; fc2_experts_bias: T?; fc3_experts_weights: T1?; "
     "fc3_scales: T2?; fc3_experts_bias: T?; fc1_zero_points: T1?; fc2_zero_points: T1?; "
     "fc3_zero_points: T1?; router_weights: T?; fc1_global_scale: T4?; fc2_global_scale: T4?; "
     "fc1_act_scale: T4?; fc2_act_scale: T4?; fc1_act_block_scale: T2?; fc2_act_block_scale: T2?",
     "output: T",
     "T: float, float16, bfloat16; T1: uint8, float8e4m3fn; "
     "T2: float, float16, bfloat16, float8e8m0, float8e4m3fn; T4: float",
     nullptr, onnx::propagateShapeAndTypeFromFirstInput},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_expert_schemas() {
  return schemas_of(expert_rows, "com.microsoft");
}

}  // namespace grurun::opset
