#include "opset/inference/limited_broadcast.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "opset/inference/inferred_input.h"
#include "opset/inference/required_sizes.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

bool may_be_one_shape(const TensorShapeProto& a, const TensorShapeProto& b) {
  bool fits = a.dim_size() == b.dim_size();
  for (int axis = 0; fits && axis < a.dim_size(); ++axis) {
    const Size one = size_of(&a, axis), other = size_of(&b, axis);
    fits = !one || !other || *one == *other;
  }
  return fits;
}

bool sets_broadcast(const InferenceContext& context) {
  return int_attribute(context, "broadcast", 0) != 0;
}

// A B of one element goes with any A of no lower rank, whatever axis is. ONNX's cases of these versions have
// sizes of 1 elsewhere, too.
void require_part(const InferenceContext& context, const TensorShapeProto& A, const TensorShapeProto& B) {
  const std::int64_t more = A.dim_size() - B.dim_size();
  const auto may_be_one = [](const auto& dim) { return !dim.has_dim_value() || dim.dim_value() == 1; };
  if (more >= 0 && std::ranges::all_of(B.dim(), may_be_one)) return;
  const std::int64_t axis = int_attribute(context, "axis", more);
  bool fits = axis >= 0 && axis <= more;
  for (int i = 0; fits && i < B.dim_size(); ++i) {
    const Size size = size_of(&B, i), against = size_of(&A, static_cast<int>(axis) + i);
    fits = !size || *size == 1 || !against || *size == *against;
  }
  if (!fits) {
    fail_invalid("the second input is {}, which is no contiguous part of the first, {}, from axis {} on",
                 shape_text(B), shape_text(A), axis);
  }
}

void check_pair(const InferenceContext& context) {
  const TensorShapeProto *A = input_shape(context, 0), *B = input_shape(context, 1);
  if (A == nullptr || B == nullptr) return;
  if (sets_broadcast(context)) return require_part(context, *A, *B);
  if (may_be_one_shape(*A, *B)) return;
  fail_invalid("the inputs are {} and {}, but must be of one shape, since the attribute broadcast is not set",
               shape_text(*A), shape_text(*B));
}

void check_all_alike(const InferenceContext& context) {
  for (std::size_t i = 1; i < context.getNumInputs(); ++i) {
    const TensorShapeProto *first = input_shape(context, 0), *other = input_shape(context, i);
    if (first == nullptr || other == nullptr || may_be_one_shape(*first, *other)) continue;
    fail_invalid("input {} is {}, but the first is {}: before version 8 all are of one shape", i,
                 shape_text(*other), shape_text(*first));
  }
}

void check_gemm_C(const InferenceContext& context) {
  const TensorShapeProto *A = input_shape(context, 0), *B = input_shape(context, 1);
  const Sizes Y = {size_of(A, int_attribute(context, "transA", 0) != 0 ? 1 : 0),
                   size_of(B, int_attribute(context, "transB", 0) != 0 ? 0 : 1)};
  const TensorShapeProto* C = input_shape(context, 2);
  if (sets_broadcast(context)) return require_broadcast("C", C, Y);
  require_sizes("C", C, Y, "the attribute broadcast is not set");
}

// A slope for all, for each channel or for each element.
void check_slope(const InferenceContext& context) {
  const TensorShapeProto *X = input_shape(context, 0), *slope = input_shape(context, 1);
  if (X == nullptr || slope == nullptr || may_be_one_shape(*X, *slope)) return;
  const Size count = count_of(sizes_of(*slope)), channels = size_of(X, 1);
  if (!count || *count == 1 || (X->dim_size() > 1 && (!channels || *channels == *count))) return;
  fail_invalid("slope is {}, but must hold one element, or one for each channel of X {}", shape_text(*slope),
               shape_text(*X));
}

struct BroadcastRule {
  std::string_view op_type;
  int last_version;
  void (*check)(const InferenceContext& context);
};

constexpr auto broadcast_rules = std::to_array<BroadcastRule>({
    {"Add", 6, check_pair},
    {"And", 1, check_pair},
    {"Div", 6, check_pair},
    {"Equal", 1, check_pair},
    {"Gemm", 6, check_gemm_C},
    {"Greater", 1, check_pair},
    {"Less", 1, check_pair},
    {"Max", 6, check_all_alike},
    {"Mean", 6, check_all_alike},
    {"Min", 6, check_all_alike},
    {"Mul", 6, check_pair},
    {"Or", 1, check_pair},
    {"Pow", 1, check_pair},
    {"PRelu", 6, check_slope},
    {"Sub", 6, check_pair},
    {"Sum", 6, check_all_alike},
    {"Xor", 1, check_pair},
});

}  // namespace

void check_limited_broadcast(const onnx::OpSchema& schema, const InferenceContext& context) {
  for (const BroadcastRule& rule : broadcast_rules) {
    if (rule.op_type == schema.Name() && schema.since_version() <= rule.last_version) rule.check(context);
  }
}

}  // namespace grurun::opset
