// Which versions of operators are meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opset/diff/schema_diff.h"
#include "opset/schema/registry.h"

namespace grurun::report {

/// The domain as models spell it. Throws Error(usage) that lists them for one that is not the standard's.
std::string require_domain(const std::string& domain);

/// One version of an operator, and all versions of it in that domain, newest first.
struct SchemaView {
  const opset::SchemaInfo* schema;
  std::vector<const opset::SchemaInfo*> versions;
  bool with_doc = false;  // the text of the operator is to be printed, too
};

/// Two versions of one operator. The opsets that were asked for may be newer than the versions they mean.
struct DiffView {
  opset::SchemaDiff diff;
  std::int64_t from_opset;
  std::int64_t to_opset;
  std::vector<int> between;  // since_versions passed over
};

/// All operators of a domain between two opsets.
struct OpsetDiffView {
  std::string domain;
  std::int64_t from;
  std::int64_t to;
  opset::OpsetDiff diff;
};

/// name may have the domain in front, "ai.onnx.ml.Scaler" or "ai.onnx.ml:Scaler". The newest version within
/// the opset (the newest opset known without one), in the domain or, without one, the first standard domain
/// that has the operator. Throws Error(usage) that says which names are near, or which opsets have the
/// operator.
SchemaView select_schema(const std::string& name, const std::optional<std::string>& of_domain,
                         std::optional<std::int64_t> opset_version);

/// From the version that one opset means to that of another. Throws what select_schema throws.
DiffView select_diff(const std::string& name, const std::optional<std::string>& of_domain, std::int64_t from,
                     std::int64_t to);

/// All operators of a domain, from one opset to another. Throws Error(usage) for a domain that is none of the
/// standard's and for opsets that it does not have.
OpsetDiffView select_opset_diff(const std::string& domain, std::int64_t from, std::int64_t to);

}  // namespace grurun::report
