// The texts are those of onnx 1.2.1 to 1.4.1, onnx/defs/experiments: what a name meant there, in this
// project's words. In these releases all were of version 1, but for the function MeanVarianceNormalization
// of 1.3, which was of version 8. LayerNormalization-1 and SimplifiedLayerNormalization are ONNX Runtime's.
#include "opset/schema/added/experimental.h"

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/defs/shape_inference.h"
#include "opset/schema/added/registered_schema.h"

namespace grurun::opset {

namespace {

using onnx::AttributeProto;
using onnx::OpSchema;

const std::vector<std::string>& floats() {
  static const std::vector<std::string> types = {"tensor(float16)", "tensor(float)", "tensor(double)"};
  return types;
}

OpSchema experimental(const char* name, int version) {
  OpSchema schema(name, __FILE__, __LINE__);
  schema.SetDomain("").SinceVersion(version).SetSupportLevel(OpSchema::SupportType::EXPERIMENTAL);
  return schema;
}

OpSchema thresholded_relu() {
  return experimental("ThresholdedRelu", 1)
      .SetDoc("Y = X where X > alpha, else 0.")
      .Attr("alpha", "The threshold.", AttributeProto::FLOAT, 1.0F)
      .Input(0, "X", "Any shape.", "T")
      .Output(0, "Y", "The shape of X.", "T")
      .TypeConstraint("T", floats(), "Floating-point tensors.")
      .TypeAndShapeInferenceFunction(onnx::propagateShapeAndTypeFromFirstInput);
}

OpSchema constant_fill() {
  const std::vector<std::string> types = {"tensor(float)", "tensor(int32)", "tensor(int64)", "tensor(bool)"};
  return experimental("ConstantFill", 1)
      .SetDoc(
          "A tensor of one value. Its shape is the attribute shape where there is no input, the shape of the "
          "input where "
          "there is one, or the values of the input where input_as_shape is 1; extra_shape is appended to "
          "the latter two.")
      .Attr("value", "Every element of the output.", AttributeProto::FLOAT, 0.0F)
      .Attr("dtype", "Element type of the output, a number of TensorProto.DataType.", AttributeProto::INT,
            static_cast<std::int64_t>(onnx::TensorProto::FLOAT))
      .Attr("shape", "Shape of the output; not together with an input.", AttributeProto::INTS,
            onnx::OPTIONAL_VALUE)
      .Attr("extra_shape", "Dimensions after those that the input gives; only with an input.",
            AttributeProto::INTS, onnx::OPTIONAL_VALUE)
      .Attr("input_as_shape", "1: the input is a list of dimensions.", AttributeProto::INT,
            onnx::OPTIONAL_VALUE)
      .Input(0, "input", "Gives the shape.", "T1", OpSchema::Optional)
      .Output(0, "output", "The filled tensor.", "T2")
      .TypeConstraint("T1", types, "Types of the input.")
      .TypeConstraint("T2", types, "Types of the output.");
}

OpSchema dynamic_slice() {
  return experimental("DynamicSlice", 1)
      .SetDoc(
          "Slice with step 1, its starts, ends and axes given as inputs; without axes, starts and ends are "
          "for the first "
          "ones.")
      .Input(0, "data", "The tensor to cut.", "T")
      .Input(1, "starts", "First index for each axis; negative ones count from the end.", "Tind")
      .Input(2, "ends", "Index behind the last for each axis; negative ones count from the end.", "Tind")
      .Input(3, "axes", "The axes that starts and ends are for.", "Tind", OpSchema::Optional)
      .Output(0, "output", "The part.", "T")
      .TypeConstraint("T", OpSchema::all_tensor_types(), "All tensors.")
      .TypeConstraint("Tind", {"tensor(int32)", "tensor(int64)"}, "Indices.");
}

OpSchema mean_variance_normalization(int version) {
  OpSchema schema = experimental("MeanVarianceNormalization", version);
  schema.Input(0, "X", "[N, C, H, W]; of any rank in version 8.", "T")
      .Output(0, "Y", "The shape of X.", "T")
      .TypeConstraint("T", floats(), "Floating-point tensors.")
      .TypeAndShapeInferenceFunction(onnx::propagateShapeAndTypeFromFirstInput);
  if (version == 1) {
    return schema.SetDoc("X less its mean, over its standard deviation, of each plane or of each image.")
        .Attr("across_channels", "1: moments of an image; 0: of a plane of it.", AttributeProto::INT,
              static_cast<std::int64_t>(0))
        .Attr("normalize_variance", "0: only subtract the mean.", AttributeProto::INT,
              static_cast<std::int64_t>(1));
  }
  return schema
      .SetDoc("X less its mean, over its standard deviation plus 1e-9, moments being taken along axes.")
      .Attr("axes", "The axes along which moments are taken.", AttributeProto::INTS,
            std::vector<std::int64_t>{0, 2, 3});
}

OpSchema layer_normalization() {
  return experimental("LayerNormalization", 1)
      .SetDoc("LayerNormalization-17, as ONNX Runtime has it in every opset.")
      .Attr("axis", "The first of the axes that are normalized.", AttributeProto::INT,
            static_cast<std::int64_t>(-1))
      .Attr("epsilon", "Added to the variance.", AttributeProto::FLOAT, 1e-5F)
      .Attr("stash_type", "Type of the computation.", AttributeProto::INT,
            static_cast<std::int64_t>(onnx::TensorProto::FLOAT))
      .Input(0, "X", "Any shape.", "T")
      .Input(1, "Scale", "Broadcasts to X.", "T")
      .Input(2, "B", "Broadcasts to X.", "T", OpSchema::Optional)
      .Output(0, "Y", "The shape of X.", "T")
      .Output(1, "Mean", "Of each row.", "U", OpSchema::Optional)
      .Output(2, "InvStdDev", "Of each row.", "U", OpSchema::Optional)
      .TypeConstraint("T", {"tensor(float16)", "tensor(float)", "tensor(double)", "tensor(bfloat16)"},
                      "Floats.")
      .TypeConstraint("U", {"tensor(float)", "tensor(bfloat16)"}, "Type of the moments.")
      .TypeAndShapeInferenceFunction(
          registered_schema("LayerNormalization", 17, "").GetTypeAndShapeInferenceFunction());
}

}  // namespace

bool is_of_runtimes(std::string_view op_type) {
  return op_type == "LayerNormalization" || op_type == "SimplifiedLayerNormalization";
}

bool is_experimental_addition(const onnx::OpSchema& schema) {
  return std::string_view(schema.file()) == __FILE__;
}

void restore_imports(const onnx::OpSchema& schema, onnx::FunctionProto& body) {
  if (!is_experimental_addition(schema)) return;
  for (auto& import : *body.mutable_opset_import())
    if (import.domain().empty()) import.set_version(body_opset);
}

void register_experimental_operators() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (OpSchema schema :
         {thresholded_relu(), constant_fill(), dynamic_slice(), mean_variance_normalization(1),
          mean_variance_normalization(8), layer_normalization()})
      onnx::RegisterSchema(std::move(schema), 0, false);
    for (OpSchema& schema : schemas_of(early_operators(), "", __FILE__)) {
      schema.SetSupportLevel(OpSchema::SupportType::EXPERIMENTAL);
      onnx::RegisterSchema(std::move(schema), 0, false);
    }
  });
}

}  // namespace grurun::opset
