// What the texts of convolutions and poolings say of their attributes taken together: for a check and for a
// run.
#pragma once

#include <optional>
#include <string>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// What a Conv, ConvInteger, QLinearConv, ConvTranspose, MaxPool, AveragePool or LpPool of this since_version
/// forbids of the attributes that the node has; nullopt for nothing, and for other operators. Attributes that
/// refer to a function's are not judged. Sources: pads "cannot be used simultaneously with auto_pad
/// attribute" in every version; output_padding "must be less than the corresponding stride/dilation
/// dimension" since ConvTranspose-11.
std::optional<std::string> window_fault(const onnx_io::Node& node, int since_version);

}  // namespace grurun::opset
