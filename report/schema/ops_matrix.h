// Which operators, versions and types run, read off the schema registry and the kernel tables.
#pragma once

#include <string>
#include <vector>

#include "opset/schema/registry.h"

namespace grurun::report {

enum class SupportKind {
  kernel,         // a row of the operator tables lists this exact version
  function_body,  // no row, but every operator of the schema's function body has support
  deprecated,     // the version withdraws the operator: no node may have it
  none,
};

/// "kernel", "function body", "deprecated", "none".
const char* support_kind_name(SupportKind kind);

/// The types of one constraint of the schema ("T"), or of one input that the kernel restricts further
/// ("input:axes"), in ONNX's spelling without "tensor(...)" around element types.
struct TypeSupport {
  std::string constraint;
  std::vector<std::string> supported;
  std::vector<std::string> unsupported;
};

struct OpSupport {
  const opset::SchemaInfo* schema;
  SupportKind kind;
  std::vector<TypeSupport> types;

  /// True when a model that the standard allows may meet "unsupported" here.
  bool has_gap() const;
};

using OpsMatrix = std::vector<OpSupport>;

/// Every schema of the registry and those beyond the standard, by domain, name and version.
OpsMatrix support_matrix();

/// Keeps the rows of these operators, GRU or ai.onnx.ml.Scaler; all where none is named. Throws Error(usage)
/// for a name that no row has, with those that are near.
void keep_named(OpsMatrix& matrix, const std::vector<std::string>& names);

}  // namespace grurun::report
