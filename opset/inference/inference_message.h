// What ONNX's inference says, in words.
#pragma once

#include <string>

namespace grurun::opset {

/// Numbers that stand for element types and for kinds of types become their names: "Sequence=1 Tensor=7" is
/// "Sequence=float Tensor=int64".
std::string with_type_names(std::string message);

/// Sentences that say what ONNX's code was about to do, as what is wrong with the model.
std::string as_fault(std::string message);

}  // namespace grurun::opset
