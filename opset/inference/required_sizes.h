// Sizes that a page wants of an input, told by an Error(invalid_model) where they are known to differ.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/defs/shape_inference.h"

namespace grurun::opset {

/// nullopt where it is not known.
using Size = std::optional<std::int64_t>;
using Sizes = std::vector<Size>;

Sizes sizes_of(const onnx::TensorShapeProto& shape);

/// "[2,?,3]".
std::string text_of(const Sizes& sizes);

/// Nothing is wanted of a shape that is null.
void require_sizes(const char* name, const onnx::TensorShapeProto* shape, const Sizes& wanted,
                   const char* why);

/// Unidirectional broadcasting: of the sizes to, the last ones stand against those of from.
void require_broadcast(const char* name, const onnx::TensorShapeProto* from, const Sizes& to);

/// The number of elements of a shape that is known; nullopt too beyond int64.
Size count_of(const Sizes& sizes);

}  // namespace grurun::opset
