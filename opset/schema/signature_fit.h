// Whether a node plainly is as its version has it: the quick look that spares most nodes the judges that find
// words.
#pragma once

#include "onnx_io/models/model.h"
#include "opset/schema/signature.h"

namespace grurun::opset {

/// False where the number of inputs or outputs, an omitted one, or an attribute's name or type needs a judge.
bool plainly_fits(const onnx_io::Node& node, const Signature& signature);

/// The element type that an attribute chooses for output 0, where the signature does not admit it; undefined:
/// none.
DType refused_choice(const onnx_io::Node& node, const Signature& signature);

}  // namespace grurun::opset
