// ONNX's schema registry and the added schemas as the files of this folder see them: lookups that copy
// nothing and survive hostile versions. A domain may be spelt "" or "ai.onnx".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/defs/schema.h"
#include "opset/schema/signature.h"

namespace grurun::opset {

/// The newest schema with since_version <= opset_version; nullptr when there is none, or when opset_version
/// is newer than the registry's newest for that domain: what such an opset says is not known.
const onnx::OpSchema* find_onnx_schema(const std::string& op_type, const std::string& domain,
                                       std::int64_t opset_version);

/// Every operator that a release of the standard defines for good, once per domain, sorted by domain and
/// name; deprecated ones included.
struct OperatorName {
  std::string domain;
  std::string op_type;
};
const std::vector<OperatorName>& operator_names();

}  // namespace grurun::opset
