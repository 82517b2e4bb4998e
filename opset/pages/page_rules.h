// The rules that pages name. What is not known is not judged; each throws Error(invalid_model) where known
// sizes, attributes or values do not fit. ONNX's inference does not look at these.
#pragma once

#include <optional>
#include <string>

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// Gradient: xs and zs name the inputs, xs the outputs.
std::optional<std::string> gradient_names_fault(const onnx_io::Node& node, int since_version);
/// CastMap: a place for each number of the map, where it is sparse.
std::optional<std::string> map_places_fault(const onnx_io::Node& node, int since_version);
/// If and Loop: M and cond hold one element.
void check_single_elements(const NodeFacts& facts);
/// Of sequences, maps and optionals; judged in a run, which has them.
void check_cast_map(const NodeFacts& facts);
void check_dictionary(const NodeFacts& facts);
void check_erased(const NodeFacts& facts);
void check_held(const NodeFacts& facts);
void check_inserted(const NodeFacts& facts);
void check_joined_sequence(const NodeFacts& facts);
void check_mapped_lengths(const NodeFacts& facts);
void check_position(const NodeFacts& facts);
/// Optional: an input or a type.
void check_wrapped(const NodeFacts& facts);

// Models of ai.onnx.ml: attributes alone, and against X.
std::optional<std::string> label_encoder_fault(const onnx_io::Node& node, int since_version);
std::optional<std::string> repeated_label(const onnx_io::Node& node, int since_version);
std::optional<std::string> svm_classifier_fault(const onnx_io::Node& node, int since_version);
std::optional<std::string> svm_regressor_fault(const onnx_io::Node& node, int since_version);
std::optional<std::string> tree_ensemble_fault(const onnx_io::Node& node, int since_version);
std::optional<std::string> trees_fault(const onnx_io::Node& node, int since_version);
void check_categories(const NodeFacts& facts);
void check_encoded(const NodeFacts& facts);
void check_extracted(const NodeFacts& facts);
void check_imputed(const NodeFacts& facts);
void check_linear(const NodeFacts& facts);
void check_map_keys(const NodeFacts& facts);
void check_scaler(const NodeFacts& facts);
void check_side_by_side(const NodeFacts& facts);
void check_svm(const NodeFacts& facts);
void check_tree_features(const NodeFacts& facts);

// Attributes alone, of convolutions and poolings. Sources: pads "cannot be used simultaneously with auto_pad
// attribute" in every version; output_padding "must be less than the corresponding stride/dilation dimension"
// since ConvTranspose-11.
std::optional<std::string> both_paddings(const onnx_io::Node& node, int since_version);
std::optional<std::string> transposed_paddings(const onnx_io::Node& node, int since_version);

/// Attributes "to" and "dtype".
std::optional<std::string> names_element_type(const onnx_io::Node& node, int since_version);

// Axes that attributes name, and lists with an entry for each axis or input.
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
void check_depth_to_space(const NodeFacts& facts);
void check_equation(const NodeFacts& facts);
void check_frames(const NodeFacts& facts);
void check_gemm(const NodeFacts& facts);
void check_group_count(const NodeFacts& facts);
void check_scale(const NodeFacts& facts);
void check_space_to_depth(const NodeFacts& facts);
void check_statistics(const NodeFacts& facts);
void check_window_size(const NodeFacts& facts);
/// Of Adagrad, Adam and Momentum: as many outputs as the tensors among the inputs have.
void check_optimizer(const NodeFacts& facts);

// Of operators that arrange elements: indices within their axes, lists with an entry for each axis.
void check_affine_grid(const NodeFacts& facts);
void check_bit_cast(const NodeFacts& facts);
void check_cache_update(const NodeFacts& facts);
void check_expanded(const NodeFacts& facts);
void check_gathered_tuples(const NodeFacts& facts);
void check_grid(const NodeFacts& facts);
void check_indexed(const NodeFacts& facts);
void check_joined(const NodeFacts& facts);
void check_one_hot(const NodeFacts& facts);
void check_pads(const NodeFacts& facts);
void check_perm(const NodeFacts& facts);
void check_repeats(const NodeFacts& facts);
void check_reshaped(const NodeFacts& facts);
void check_resize(const NodeFacts& facts);
void check_resize_10(const NodeFacts& facts);
void check_reversed(const NodeFacts& facts);
void check_scattered_tuples(const NodeFacts& facts);
void check_sliced(const NodeFacts& facts);
void check_split(const NodeFacts& facts);
void check_split_to_sequence(const NodeFacts& facts);
void check_squeezed(const NodeFacts& facts);
void check_tiles(const NodeFacts& facts);
void check_unsqueezed(const NodeFacts& facts);
void check_upsample(const NodeFacts& facts);

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
