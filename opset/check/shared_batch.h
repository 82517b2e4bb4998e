// Caches of RotaryEmbedding that serve every row of a batch: the text has one for each row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value_type.h"

namespace grurun::opset {

/// RotaryEmbedding of the standard.
bool may_share_batch(const onnx_io::Node& node);

/// A sentence for each cache and for position_ids whose batch size is 1 where that of X is known to be
/// another number, or a name. shape_of: nullptr for a value whose rank is not known.
std::vector<std::string> shared_batches(
    const onnx_io::Node& node, const std::function<const SymbolicShape*(const std::string& name)>& shape_of);

}  // namespace grurun::opset
