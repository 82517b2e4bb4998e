// Which version of an operator the flags of `grurun schema` name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opset/schema/registry.h"

namespace grurun::report {

/// The domain as models spell it. Throws Error(usage) that lists them for one that is not the standard's.
std::string require_domain(const std::string& domain);

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

}  // namespace grurun::report
