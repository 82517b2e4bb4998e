// What numbers in attributes must be at least, whatever the inputs are. Those that shapes are divided by, or
// that inference counts with, stand in size_rules.cc and inference_guard.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// Of an attribute (a number, or each of a list) from the version since on.
struct NumberBound {
  std::string_view domain;
  std::string_view op_type;
  std::string_view attribute;
  int since;
  int least;
};

std::span<const NumberBound> all_number_bounds();

/// "strides holds 0, but must hold numbers from 1 on": the first number of a node of this
/// since_version that is too small; nullopt for none. Attributes that refer to a function's are left out.
std::optional<std::string> number_bound_fault(const onnx_io::Node& node, int since_version);

}  // namespace grurun::opset
