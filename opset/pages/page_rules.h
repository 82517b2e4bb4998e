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
/// TfIdfVectorizer: its pool of n-grams.
std::optional<std::string> ngram_pool(const onnx_io::Node& node, int since_version);
/// Attention from version 25 on: "present_key and present_value" are both outputs or neither is.
std::optional<std::string> present_outputs(const onnx_io::Node& node, int since_version);
/// Constant, ConstantOfShape, ConstantFill and the random generators.
std::optional<std::string> values_of_constant(const onnx_io::Node& node, int since_version);
std::optional<std::string> value_of_one(const onnx_io::Node& node, int since_version);
std::optional<std::string> filled_shape(const onnx_io::Node& node, int since_version);
std::optional<std::string> drawn_interval(const onnx_io::Node& node, int since_version);
/// MaxRoiPool.
std::optional<std::string> height_and_width(const onnx_io::Node& node, int since_version);
/// LayerNormalization: Mean and InvStdDev are of the type of stash_type, which their constraint U narrows.
std::optional<std::string> stashed_outputs(const onnx_io::Node& node, int since_version);
std::optional<std::string> both_paddings(const onnx_io::Node& node, int since_version);
std::optional<std::string> transposed_paddings(const onnx_io::Node& node, int since_version);

/// Crop: border has four numbers, scale two.
std::optional<std::string> border_and_scale(const onnx_io::Node& node, int since_version);

/// Attributes "to" and "dtype".
std::optional<std::string> names_element_type(const onnx_io::Node& node, int since_version);

// Axes that attributes name, and lists with an entry for each axis or input.
void check_block_lists(const NodeFacts& facts);
void check_cropped_axes(const NodeFacts& facts);
void check_scan(const NodeFacts& facts);
void check_window_lists(const NodeFacts& facts);
/// Of any operator: an axis, whatever attribute names it, lies within int.
std::optional<std::string> axis_range_fault(const onnx_io::Node& node);

// Sizes that attributes and inputs settle together.
/// All inputs broadcast with each other.
void check_broadcast(const NodeFacts& facts);
void check_condition(const NodeFacts& facts);
void check_depth_to_space(const NodeFacts& facts);
void check_equation(const NodeFacts& facts);
void check_scale(const NodeFacts& facts);
void check_space_to_depth(const NodeFacts& facts);
/// Of Adagrad, Adam and Momentum: as many outputs as the tensors among the inputs have.
void check_optimizer(const NodeFacts& facts);

/// Sizes of the first input that must not be 0: along axis, where others are not, and of planes.
void check_extreme(const NodeFacts& facts);
void check_planes(const NodeFacts& facts);

// Products of matrices, and the zero points and scales of their rows and columns.
void check_gemm(const NodeFacts& facts);
void check_matmul(const NodeFacts& facts);

// Values that operators on elements take.
/// An integer divisor is not 0.
void check_divisor(const NodeFacts& facts);
void check_fmod(const NodeFacts& facts);
void check_target(const NodeFacts& facts);

// Signals: transforms, frames and frequencies.
void check_dft(const NodeFacts& facts);
void check_frames(const NodeFacts& facts);
void check_mel_scale(const NodeFacts& facts);

// Generators.
void check_drawn_type(const NodeFacts& facts);
void check_filled_shape(const NodeFacts& facts);
void check_log_probabilities(const NodeFacts& facts);
void check_range(const NodeFacts& facts);

// Scales, zero points and the type of quantization.
void check_output_type(const NodeFacts& facts);

// Statistics, groups and what is multiplied with the normalized.
void check_broadcast_to_first(const NodeFacts& facts);
void check_group_count(const NodeFacts& facts);
void check_statistics(const NodeFacts& facts);

// Regions of images.
void check_pooled_regions(const NodeFacts& facts);
void check_regions(const NodeFacts& facts);

/// TfIdfVectorizer: X is of the pool's type.
void check_tokens(const NodeFacts& facts);

// Layers that keep a state, and heads that others share.
void check_causal_state(const NodeFacts& facts);
void check_linear_attention(const NodeFacts& facts);
void check_shared_heads(const NodeFacts& facts);

// Windows of poolings, and what Col2Im and MaxUnpool put together.
void check_columns(const NodeFacts& facts);
void check_pooling(const NodeFacts& facts);
void check_unpooled(const NodeFacts& facts);

// Of operators that arrange elements: indices within their axes, lists with an entry for each axis.
void check_affine_grid(const NodeFacts& facts);
void check_bit_cast(const NodeFacts& facts);
void check_border(const NodeFacts& facts);
void check_cache_update(const NodeFacts& facts);
/// ImageScaler: bias, where it is stated, has a number for each channel.
void check_channel_bias(const NodeFacts& facts);
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
void check_pair(const NodeFacts& facts);
void check_slope(const NodeFacts& facts);

}  // namespace grurun::opset
