// Operators that releases 1.2 to 1.4 of the standard marked experimental and later ones dropped or gave a
// number: models and official test cases of that time use them.
#pragma once

#include <cstdint>

#include "onnx/defs/schema.h"

namespace grurun::opset {

/// Adds their schemas to ONNX's registry, once; call before the registry is asked for anything.
void register_experimental_operators();

/// True for the schemas that register_experimental_operators added.
bool is_experimental_addition(const onnx::OpSchema& schema);

/// The last opset of ai.onnx whose release knew them.
inline constexpr std::int64_t last_experimental_opset = 9;

}  // namespace grurun::opset
