// Models written in ONNX's text syntax.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "onnx/defs/parser.h"
#include "onnx_io/models/model.h"

namespace grurun {

inline onnx::ModelProto proto_from_text(const std::string& text) {
  onnx::ModelProto proto;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(proto);
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage() + " in " + text);
  if (!parser.EndOfInput()) throw std::runtime_error("text behind the model: " + text);
  return proto;
}

inline onnx_io::Model model_from_proto(const onnx::ModelProto& proto) {
  const std::string bytes = proto.SerializeAsString();
  return onnx_io::parse_model(bytes.data(), bytes.size(), "");
}

inline onnx_io::Model model_from_text(const std::string& text) {
  return model_from_proto(proto_from_text(text));
}

}  // namespace grurun
