// Images, matrices and tables: operators that are no compositions.
#include "onnx/defs/shape_inference.h"
#include "onnx/defs/tensor_proto_util.h"
#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

void same_type(InferenceContext& context, std::size_t input) {
  onnx::propagateElemTypeFromInputToOutput(context, input, 0);
}

const TensorShapeProto* shape_of(InferenceContext& context, std::size_t input, int rank) {
  if (!onnx::hasInputShape(context, input)) return nullptr;
  const TensorShapeProto& shape = onnx::getInputShape(context, input);
  return shape.dim_size() == rank ? &shape : nullptr;
}

// Y [num_rois, C, crop_height, crop_width].
void infer_crop(InferenceContext& context) {
  same_type(context, 0);
  TensorShapeProto shape;
  for (int i = 0; i < 4; ++i) shape.add_dim();
  if (const auto* rois = shape_of(context, 1, 2)) *shape.mutable_dim(0) = rois->dim(0);
  if (const auto* X = shape_of(context, 0, 4)) *shape.mutable_dim(1) = X->dim(1);
  if (const onnx::TensorProto* size = context.getInputData(3)) {
    const auto numbers = onnx::ParseData<std::int32_t>(size);
    for (std::size_t i = 0; i < 2 && numbers.size() == 2 && numbers[i] > 0; ++i)
      shape.mutable_dim(static_cast<int>(i) + 2)->set_dim_value(numbers[i]);
  }
  onnx::updateOutputShape(context, 0, shape);
}

void infer_path(InferenceContext& context) {
  onnx::updateOutputElemType(context, 0, onnx::TensorProto::INT32);
  TensorShapeProto shape;
  shape.add_dim()->set_dim_value(2), shape.add_dim();
  onnx::updateOutputShape(context, 0, shape);
}

void infer_gathered(InferenceContext& context) {
  const std::int64_t to = onnx::getAttribute(context, "output_dtype", 16);
  if (to == 1 || to == 10 || to == 16) onnx::updateOutputElemType(context, 0, static_cast<std::int32_t>(to));
  const std::int64_t K = onnx::getAttribute(context, "K", 0);
  if (!onnx::hasInputShape(context, 1) || K < 1) return;
  TensorShapeProto shape = onnx::getInputShape(context, 1);
  shape.add_dim()->set_dim_value(K);
  onnx::updateOutputShape(context, 0, shape);
}

void infer_q4_product(InferenceContext& context) {
  same_type(context, 0);
  const onnx::TensorProto* sizes = context.getInputData(2);
  if (!onnx::hasInputShape(context, 0) || sizes == nullptr) return;
  const auto numbers = onnx::ParseData<std::int64_t>(sizes);
  TensorShapeProto shape = onnx::getInputShape(context, 0);
  if (numbers.size() != 2 || numbers[1] < 1 || shape.dim_size() == 0) return;
  shape.mutable_dim(shape.dim_size() - 1)->set_dim_value(numbers[1]);
  onnx::updateOutputShape(context, 0, shape);
}

void infer_pooled(InferenceContext& context) {
  same_type(context, 0);
  onnx::convPoolShapeInference(context, false, true, 0, 1);
}

void infer_sparse_product(InferenceContext& context) {
  same_type(context, 1);
  if (!onnx::hasInputShape(context, 1)) return;
  TensorShapeProto shape = onnx::getInputShape(context, 1);
  const int rank = shape.dim_size();
  if (rank < 2) return;
  const auto columns = shape.dim(onnx::getAttribute(context, "transB", 0) != 0 ? rank - 2 : rank - 1);
  *shape.mutable_dim(rank - 1) = columns;
  shape.mutable_dim(rank - 2)->Clear();
  onnx::updateOutputShape(context, 0, shape);
}

constexpr AddedOperator image_rows[] = {
    {"CropAndResize", "Y: the parts of X that rois frame, resized to crop_size.",
     "extrapolation_value: float = 0; mode: string = bilinear",
     "X: T1; rois: T1; batch_indices: T2; crop_size: T2", "Y: T1", "T1: float16, float, double; T2: int32",
     nullptr, infer_crop},
    {"DynamicTimeWarping", "output: the cheapest path through the matrix input.", "", "input: F", "output: I",
     "F: float; I: int32", nullptr, infer_path},
    {"GatherPacked", "output: rows of data, which packed_type says how to read.",
     "K: int!; output_dtype: int = 16; packed_type: int!", "data: T1; indices: Tind", "output: T2",
     "T1: uint8; T2: bfloat16, float16, float; Tind: int32, int64", nullptr, infer_gathered},
    {"Inverse", "Y: the inverse of each matrix of X.", "", "X: T", "Y: T", "T: float16, float, double",
     nullptr, onnx::propagateShapeAndTypeFromFirstInput},
    {"MatMulFpQ4", "Y = A * B, B being packed codes of 4 bits.", "blk_quant_type: int = 1",
     "A: T1; B: T2; B_shape: T3", "Y: T1", "T1: float; T2: uint8; T3: int64", nullptr, infer_q4_product},
    {"MaxpoolWithMask", "Y: the largest of what the mask M shows of each window of X.",
     "auto_pad: string = NOTSET; kernel_shape: ints; pads: ints; storage_order: int = 0; strides: ints",
     "X: T; M: tensor(int32)", "Y: T", "T: float", nullptr, infer_pooled},
    {"SparseToDenseMatMul", "Y = alpha * A * B, A being sparse.",
     "alpha: float = 1; transA: int = 0; transB: int = 0", "A: T; B: T1", "Y: T1",
     "T: sparse_tensor(float), sparse_tensor(double), sparse_tensor(int64), sparse_tensor(int32), "
     "sparse_tensor(uint64), sparse_tensor(uint32), float, double, int64, int32, uint64, uint32; T1: float, "
     "double, int64, int32, uint64, uint32",
     nullptr, infer_sparse_product},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_image_schemas() {
  return schemas_of(image_rows, "com.microsoft");
}

}  // namespace grurun::opset
