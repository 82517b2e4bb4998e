#include "onnx_io/openvino/openvino_ir.h"
#include "opset/schema/added/added_schemas.h"
#include "opset/schema/added/registered_schema.h"

namespace grurun::opset {

std::vector<onnx::OpSchema> openvino_schemas() {
  std::vector<onnx::OpSchema> schemas = {registered_schema("LSTM", onnx_io::openvino_opset, "")};
  schemas.front().SetDomain(onnx_io::openvino_domain).SinceVersion(onnx_io::openvino_opset);
  return schemas;
}

}  // namespace grurun::opset
