#include "onnx_io/models/more_outputs.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "onnx_io/bytes.h"
#include "onnx_io/models/model_text.h"
#include "onnx_io/models/proto_convert.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "onnx_io/unpack.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

void write_with_outputs(const std::string& model, const std::vector<ValueInfo>& outputs,
                        const std::string& to) {
  ::onnx::ModelProto more;
  for (const ValueInfo& output : outputs) {
    ::onnx::ValueInfoProto& info = *more.mutable_graph()->add_output();
    info.set_name(output.name);
    if (output.type.kind != ValueType::Kind::unknown) *info.mutable_type() = type_to_proto(output.type);
  }
  const std::string head = read_head(open_file(model).descriptor);
  if (looks_like_openvino_ir(head))
    fail_unsupported("{}: an OpenVINO IR has no ONNX form for a runtime", model);
  const bool is_binary = !compression_of(head) && !text_of(head);
  if (is_binary) {
    std::error_code error;
    std::filesystem::copy_file(model, to, std::filesystem::copy_options::overwrite_existing, error);
    if (error) fail_usage("cannot write {}: {}", to, error.message());
  }
  std::ofstream out(to, std::ios::binary | (is_binary ? std::ios::app : std::ios::trunc));
  if (!is_binary) load_model(model).proto->SerializeToOstream(&out);
  // Messages one behind the other are one: what repeats is put together.
  more.SerializeToOstream(&out);
  out.close();
  if (!out) fail_usage("cannot write {}: {}", to, std::strerror(errno));
}

}  // namespace grurun::onnx_io
