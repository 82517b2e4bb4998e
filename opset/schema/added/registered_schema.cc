#include "opset/schema/added/registered_schema.h"

#include "tensor/error.h"

namespace grurun::opset {

const onnx::OpSchema& registered_schema(const std::string& op_type, int version, const std::string& domain) {
  const auto* const schema = onnx::OpSchemaRegistry::Schema(op_type, version, domain);
  if (schema == nullptr)
    fail(ErrorKind::limit, "out of memory: ONNX could not register {}-{}", op_type, version);
  return *schema;
}

}  // namespace grurun::opset
