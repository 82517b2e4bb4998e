// GRU, RNN and LSTM as their versions define them, at hand without ONNX's registry: to fill that is most of
// what starting on a small model would cost. A test holds it against the registry.
#pragma once

#include <string>
#include <vector>

#include "opset/recurrent/recurrent_form.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

/// Oldest first. Descriptions, defaults and the text are left empty.
const std::vector<SchemaInfo>& recurrent_schemas(const RecurrentForm& form);

/// The version a model that imports this opset means; nullptr below 1.
const SchemaInfo* find_recurrent_schema(const RecurrentForm& form, std::int64_t opset_version);

}  // namespace grurun::opset
