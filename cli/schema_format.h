// What `grurun schema` prints of one version of an operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opset/registry.h"

namespace grurun::cli {

/// One version of an operator, and all versions of it in that domain, newest first.
struct SchemaView {
  const opset::SchemaInfo* schema;
  std::vector<const opset::SchemaInfo*> versions;
};

/// name may have the domain in front, "ai.onnx.ml.Scaler" or "ai.onnx.ml:Scaler". The newest version within
/// the opset (the newest opset known without one), in the domain or, without one, the first standard domain
/// that has the operator. Throws Error(usage) that says which names are near, or which opsets have the
/// operator.
SchemaView select_schema(const std::string& name, const std::optional<std::string>& of_domain,
                         std::optional<std::int64_t> opset_version);

/// Attributes, inputs, outputs, type constraints and versions, at most 110 columns wide; with the operator's
/// text behind them where with_doc.
std::string schema_text(const SchemaView& view, bool with_doc);

/// {"name", "domain", "since_version", "versions": [22, ...], "deprecated", "experimental",
/// "has_function_body", "has_shape_inference", "doc", "attributes": [{"name", "type", "required", "default"
/// (where there is one), "description"}], "min_input", "max_input", "min_output", "max_output" (null: no
/// limit), "inputs", "outputs": [{"name", "type", "kind", "types", "description", and for variadic ones
/// "min_arity", "homogeneous"}], "type_constraints": [{"name", "types", "description"}]}.
std::string schema_json(const SchemaView& view);

}  // namespace grurun::cli
