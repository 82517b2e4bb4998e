// Attributes of nodes as text for people.
#pragma once

#include <string>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

/// "0.5", "\"forward\"", "[1, 2]"; the type's name where it is no number, string or list of these.
std::string attribute_text(const Attribute& attribute);

}  // namespace grurun::onnx_io
