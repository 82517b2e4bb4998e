// Models written as text: which text it is, and what it says. For onnx_io only: it shows ONNX's messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx/onnx_pb.h"

namespace grurun::onnx_io {

enum class ModelText : std::uint8_t {
  protobuf,  // protobuf's text format, .textproto
  onnx,      // ONNX's own syntax, onnx/defs/parser.h, .onnxtxt
  json,      // protobuf's mapping to JSON
};

/// Which text begins so; nullopt: none of these. A beginning that ends within a comment is taken for
/// protobuf's until more is seen.
std::optional<ModelText> text_of(std::string_view begin);

/// The model that a text describes. Throws Error(invalid_model) with line and column, as far as they are
/// known.
void parse_text(ModelText form, std::string_view text, ::onnx::ModelProto& model);

}  // namespace grurun::onnx_io
