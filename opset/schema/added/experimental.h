// Operators that releases 1.2 to 1.4 of the standard marked experimental and later ones dropped or gave a
// number: models and official test cases of that time use them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "onnx/defs/schema.h"
#include "opset/schema/added/added_operator.h"

namespace grurun::opset {

/// Adds their schemas to ONNX's registry, once; call before the registry is asked for anything.
void register_experimental_operators();

/// True for the schemas that register_experimental_operators added.
bool is_experimental_addition(const onnx::OpSchema& schema);

/// Those of them that are compositions (early_operators.cc).
std::span<const AddedOperator> early_operators();

/// ONNX sets the import of a schema's own domain in a body it builds to the version of the builder: sets it
/// back to body_opset in bodies of early operators.
void restore_imports(const onnx::OpSchema& schema, onnx::FunctionProto& body);

/// True where it is not a release of ONNX that had the operator, or this version of it, but ONNX Runtime,
/// whose exporters write it. It is known in every opset.
bool is_of_runtimes(std::string_view op_type);

/// The last opset of ai.onnx whose release knew the others.
inline constexpr std::int64_t last_experimental_opset = 9;

}  // namespace grurun::opset
