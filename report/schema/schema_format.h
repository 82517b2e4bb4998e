// What `grurun schema` prints of one version of an operator.
#pragma once

#include <string>

#include "report/schema/schema_selection.h"

namespace grurun::report {

/// Attributes, inputs, outputs, type constraints and versions, at most 110 columns wide.
std::string schema_text(const SchemaView& view);

/// {"name", "domain", "since_version", "versions": [22, ...], "deprecated", "experimental",
/// "has_function_body", "has_shape_inference", "doc", "attributes": [{"name", "type", "required", "default"
/// (where there is one), "description"}], "min_input", "max_input", "min_output", "max_output" (null: no
/// limit), "inputs", "outputs": [{"name", "type", "kind", "types", "description", and for variadic ones
/// "min_arity", "homogeneous"}], "type_constraints": [{"name", "types", "description"}]}.
std::string schema_json(const SchemaView& view);

}  // namespace grurun::report
