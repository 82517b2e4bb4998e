// OpenVINO IR: a .xml with the graph and a .bin of the same name beside it with the weights. docs/openvino.md
// says what is read and how it becomes ONNX.
#pragma once

#include <string>
#include <string_view>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

/// Operators of this domain are ONNX's of the same name and of this version but for clip, which bounds what
/// the functions of the gates see and not the argument of h in Ht = ot (.) h(Ct). Only LSTM differs by that,
/// and the reader writes it where a layer has a clip.
inline constexpr const char* openvino_domain = "openvino";
inline constexpr int openvino_opset = 22;

/// True when a file that begins so is to be read as an IR.
bool looks_like_openvino_ir(std::string_view head);

/// The model that an IR of version 10 or 11 describes, in ONNX's operators. weights_file is looked for in the
/// folder as external data is. Throws Error(invalid_model) for a file that breaks the format or the text of
/// an operator, Error(unsupported) for what ONNX's operators cannot say or is not read, Error(limit) for a
/// text of more than 64 MiB.
Model parse_openvino_ir(std::string_view xml, const std::string& folder, const std::string& weights_file);

}  // namespace grurun::onnx_io
