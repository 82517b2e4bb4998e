// Faults in the attributes of a node. Each tells what it did; "" where it could do nothing.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "tests/trial/judges/draws.h"

namespace grurun::trial::testing {

/// Another value.
std::string change_attribute(onnx::NodeProto& node, Draws& draws);

std::string drop_attribute(onnx::NodeProto& node, Draws& draws);

/// One that some version of the operator has, or that none has.
std::string add_attribute(onnx::NodeProto& node, Draws& draws);

/// A value of another type.
std::string retype_attribute(onnx::NodeProto& node, Draws& draws);

}  // namespace grurun::trial::testing
