#include "opset/inference/size_rules.h"

#include <array>
#include <string_view>
#include <vector>

#include "onnx/defs/tensor_proto_util.h"
#include "opset/inference/attention_rules.h"
#include "opset/inference/convolution_rules.h"
#include "opset/inference/inferred_input.h"
#include "opset/inference/limited_broadcast.h"
#include "opset/inference/required_sizes.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

void check_perm(const InferenceContext& context) {
  const TensorShapeProto* data = input_shape(context, 0);
  const onnx::AttributeProto* perm = context.getAttribute("perm");
  if (data == nullptr || perm == nullptr || perm->ints_size() == data->dim_size()) return;
  fail_invalid("attribute perm has {} axes, but data {} has {}", perm->ints_size(), shape_text(*data),
               data->dim_size());
}

// blocksize divides height and width, or its square the channels.
void check_blocks(const InferenceContext& context, bool to_depth) {
  const TensorShapeProto* input = input_shape(context, 0);
  const std::int64_t blocksize = int_attribute(context, "blocksize", 1);
  constexpr std::int64_t largest = 65536;  // its square is within int64
  if (input == nullptr || input->dim_size() != 4 || blocksize < 1 || blocksize > largest) return;
  const auto divides = [&](int axis, std::int64_t by) { return size_of(input, axis).value_or(0) % by == 0; };
  if (to_depth && !(divides(2, blocksize) && divides(3, blocksize)))
    fail_invalid("input is {}: height and width do not divide by blocksize {}", shape_text(*input),
                 blocksize);
  if (!to_depth && !divides(1, blocksize * blocksize))
    fail_invalid("input is {}: channels do not divide by blocksize {} squared", shape_text(*input),
                 blocksize);
}

void check_gemm(const InferenceContext& context) {
  const TensorShapeProto *A = input_shape(context, 0), *B = input_shape(context, 1);
  const Size M = size_of(A, int_attribute(context, "transA", 0) != 0 ? 1 : 0);
  const Size N = size_of(B, int_attribute(context, "transB", 0) != 0 ? 0 : 1);
  require_broadcast("C", input_shape(context, 2), {M, N});
}

void check_broadcast_to_first(const InferenceContext& context, std::size_t input, const char* name) {
  if (const TensorShapeProto* X = input_shape(context, 0))
    require_broadcast(name, input_shape(context, input), sizes_of(*X));
}

// updates [indices.shape[:-1], data.shape[indices.shape[-1]:]]
void check_updates(const InferenceContext& context) {
  const TensorShapeProto *data = input_shape(context, 0), *indices = input_shape(context, 1);
  if (data == nullptr || indices == nullptr || indices->dim_size() == 0) return;
  const int last = indices->dim_size() - 1;
  const Size depth = size_of(indices, last);
  if (!depth) return;
  if (*depth < 0 || *depth > data->dim_size())
    fail_invalid("indices is {}, but data {} has no {} axes", shape_text(*indices), shape_text(*data),
                 *depth);
  Sizes wanted;
  for (int axis = 0; axis < last; ++axis) wanted.push_back(size_of(indices, axis));
  for (int axis = static_cast<int>(*depth); axis < data->dim_size(); ++axis)
    wanted.push_back(size_of(data, axis));
  require_sizes("updates", input_shape(context, 2), wanted,
                "indices.shape[:-1] and the axes that are not indexed");
}

void check_reversed(const InferenceContext& context) {
  const std::int64_t batch_axis = int_attribute(context, "batch_axis", 1);
  const std::int64_t time_axis = int_attribute(context, "time_axis", 0);
  if (!(batch_axis == 0 && time_axis == 1) && !(batch_axis == 1 && time_axis == 0))
    fail_invalid("time_axis and batch_axis are {} and {}; they must be 0 and 1, or 1 and 0", time_axis,
                 batch_axis);
  require_sizes("sequence_lens", input_shape(context, 1),
                {size_of(input_shape(context, 0), static_cast<int>(batch_axis))},
                "a length for each row of the batch");
}

void check_group_count(const InferenceContext& context) {
  const std::int64_t groups = int_attribute(context, "num_groups", 1);
  if (groups < 1) fail_invalid("attribute num_groups is {}, but must be at least 1", groups);
  const Size C = size_of(input_shape(context, 0), 1);
  if (C && *C % groups != 0) fail_invalid("num_groups {} does not divide the {} channels of X", groups, *C);
}

// A scale for all, for each place of axis, or for each block of places.
void check_scale(const InferenceContext& context, const char* name) {
  const TensorShapeProto *x = input_shape(context, 0), *scale = input_shape(context, 1);
  if (x == nullptr || scale == nullptr) return;
  const std::int64_t block = int_attribute(context, "block_size", 0);
  if (block < 0) fail_invalid("attribute block_size is {}, but must not be negative", block);
  const int rank = scale->dim_size();
  if (block == 0 && (rank == 0 || (rank == 1 && size_of(scale, 0).value_or(1) == 1))) return;
  std::int64_t axis = int_attribute(context, "axis", 1);
  if (axis < -x->dim_size() || axis >= x->dim_size())
    fail_invalid("attribute axis is {}, but x {} has {} axes", axis, shape_text(*x), x->dim_size());
  if (axis < 0) axis += x->dim_size();
  const Size along = size_of(x, static_cast<int>(axis));
  if (block == 0) return require_sizes(name, scale, {along}, "a scalar, or a number for each place of axis");
  Sizes wanted = sizes_of(*x);
  if (along) wanted[static_cast<std::size_t>(axis)] = *along / block + (*along % block != 0 ? 1 : 0);
  require_sizes(name, scale, wanted, "a number for each block of block_size places of axis");
}

// ONNX's inference works out a -1; without one, it takes the shape at its word.
void check_count(const InferenceContext& context) {
  const TensorShapeProto* data = input_shape(context, 0);
  const onnx::TensorProto* stated = context.getInputData(1);
  if (data == nullptr || stated == nullptr || stated->data_type() != onnx::TensorProto::INT64) return;
  const bool allowzero = int_attribute(context, "allowzero", 0) != 0;
  Sizes wanted;
  for (const std::int64_t size : onnx::ParseData<std::int64_t>(stated)) {
    const bool copied = size == 0 && !allowzero;
    wanted.push_back(copied ? size_of(data, static_cast<int>(wanted.size())) : size);
  }
  const Size elements = count_of(sizes_of(*data)), room = count_of(wanted);
  if (elements && room && *elements != *room)
    fail_invalid("data is {}: its {} elements do not fill the shape {}", shape_text(*data), *elements,
                 text_of(wanted));
}

// Without axis, of all elements in a row.
void check_condition(const InferenceContext& context) {
  const TensorShapeProto* input = input_shape(context, 0);
  const Size count = size_of(input_shape(context, 1), 0);
  if (input == nullptr || !count) return;
  const int rank = input->dim_size();
  Size most = count_of(sizes_of(*input));
  if (const onnx::AttributeProto* axis = context.getAttribute("axis")) {
    if (axis->i() < -rank || axis->i() >= rank) return;  // ONNX's inference says so
    most = size_of(input, static_cast<int>(axis->i() < 0 ? axis->i() + rank : axis->i()));
  }
  if (most && *count > *most)
    fail_invalid("condition has {} elements for {} of input {}", *count, *most, shape_text(*input));
}

struct SizeRule {
  std::string_view op_type;
  int since;
  void (*check)(const InferenceContext& context);
};

constexpr auto size_rules = std::to_array<SizeRule>({
    {"Compress", 9, check_condition},
    {"Conv", 1, [](const auto& context) { check_convolution(context, 1); }},
    {"ConvInteger", 10, [](const auto& context) { check_convolution(context, 1); }},
    {"ConvTranspose", 1, check_transposed_convolution},
    {"DeformConv", 19, check_deformed_convolution},
    {"DepthToSpace", 1, [](const auto& context) { check_blocks(context, false); }},
    {"SpaceToDepth", 1, [](const auto& context) { check_blocks(context, true); }},
    {"DequantizeLinear", 13, [](const auto& context) { check_scale(context, "x_scale"); }},
    {"QuantizeLinear", 13, [](const auto& context) { check_scale(context, "y_scale"); }},
    {"Gemm", 7, check_gemm},
    {"GroupNormalization", 21, check_group_count},
    {"LayerNormalization", 17,
     [](const auto& context) {
       check_broadcast_to_first(context, 1, "Scale"), check_broadcast_to_first(context, 2, "B");
     }},
    {"PRelu", 7, [](const auto& context) { check_broadcast_to_first(context, 1, "slope"); }},
    {"QLinearConv", 10, [](const auto& context) { check_convolution(context, 3); }},
    {"Reshape", 5, check_count},
    {"ReverseSequence", 10, check_reversed},
    {"RMSNormalization", 23, [](const auto& context) { check_broadcast_to_first(context, 1, "scale"); }},
    {"RotaryEmbedding", 23, check_rotary_embedding},
    {"ScatterND", 11, check_updates},
    {"Transpose", 1, check_perm},
});

}  // namespace

void check_sizes(const onnx::OpSchema& schema, const InferenceContext& context) {
  check_limited_broadcast(schema, context);
  if (schema.Name() == "Attention") check_attention(context, schema.since_version());
  for (const SizeRule& rule : size_rules) {
    if (rule.op_type == schema.Name() && schema.since_version() >= rule.since) rule.check(context);
  }
}

}  // namespace grurun::opset
