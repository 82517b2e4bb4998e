// The rules that pages name. What is not known is not judged; each throws Error(invalid_model) where known
// sizes, attributes or values do not fit. ONNX's inference does not look at these.
#pragma once

#include <optional>
#include <string>

#include "opset/pages/node_facts.h"

namespace grurun::opset {

// Attributes alone, of convolutions and poolings. Sources: pads "cannot be used simultaneously with auto_pad
// attribute" in every version; output_padding "must be less than the corresponding stride/dilation dimension"
// since ConvTranspose-11.
/// LabelEncoder: one of the attributes keys_* and one of values_*.
std::optional<std::string> both_kinds(const onnx_io::Node& node, int since_version);
std::optional<std::string> both_paddings(const onnx_io::Node& node, int since_version);
std::optional<std::string> transposed_paddings(const onnx_io::Node& node, int since_version);

// Axes that attributes name, and lists with an entry for each axis or input.
void check_axis(const NodeFacts& facts);
void check_batch_dims(const NodeFacts& facts);
void check_block_lists(const NodeFacts& facts);
void check_cropped_axes(const NodeFacts& facts);
void check_normalized_axis(const NodeFacts& facts);
void check_scan(const NodeFacts& facts);
void check_window_lists(const NodeFacts& facts);
/// Of any operator: an axis, whatever attribute names it, lies within int.
void check_axis_range(const NodeFacts& facts);

// Sizes that attributes and inputs settle together.
/// All inputs broadcast with each other.
void check_broadcast(const NodeFacts& facts);
void check_broadcast_to_first(const NodeFacts& facts);
void check_condition(const NodeFacts& facts);
void check_count(const NodeFacts& facts);
void check_depth_to_space(const NodeFacts& facts);
void check_equation(const NodeFacts& facts);
void check_frames(const NodeFacts& facts);
void check_gemm(const NodeFacts& facts);
void check_group_count(const NodeFacts& facts);
void check_num_outputs(const NodeFacts& facts);
void check_perm(const NodeFacts& facts);
void check_reversed(const NodeFacts& facts);
void check_scale(const NodeFacts& facts);
void check_space_to_depth(const NodeFacts& facts);
void check_statistics(const NodeFacts& facts);
void check_updates(const NodeFacts& facts);
void check_window_size(const NodeFacts& facts);
/// Of Adagrad, Adam and Momentum: as many outputs as the tensors among the inputs have.
void check_optimizer(const NodeFacts& facts);

// Weights, groups and windows of convolutions; offset and mask of DeformConv.
void check_convolution(const NodeFacts& facts);
void check_deformed_convolution(const NodeFacts& facts);
void check_quantized_convolution(const NodeFacts& facts);
void check_transposed_convolution(const NodeFacts& facts);

// Heads, which in rank 3 attributes state, caches and masks of Attention; the elements of a head that
// RotaryEmbedding turns, the caches for them, and position_ids.
void check_attention(const NodeFacts& facts);
void check_rotary_embedding(const NodeFacts& facts);

// Before opset 7: B stands against a contiguous part of A's axes where the attribute broadcast is set, else
// it is of A's shape, as all inputs of Sum, Max, Min and Mean are; Gemm's C and PRelu's slope likewise.
void check_all_alike(const NodeFacts& facts);
void check_gemm_C(const NodeFacts& facts);
void check_pair(const NodeFacts& facts);
void check_slope(const NodeFacts& facts);

}  // namespace grurun::opset
