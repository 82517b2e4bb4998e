// The sentence for a fault that comes up within the body of an operator.
#pragma once

namespace grurun::opset {

/// The nodes of a body are not the model's, so that their own sentences would name what nobody wrote. The
/// page of the operator judges before; this is what is left where it is silent.
inline constexpr const char* body_fault = "its inputs and attributes do not fit each other";

}  // namespace grurun::opset
