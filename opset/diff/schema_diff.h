// What changed between two versions of an operator, and whether a node written for the one still means the
// same under the other.
#pragma once

#include <string>
#include <vector>

#include "opset/schema/registry.h"

namespace grurun::opset {

enum class ChangeKind { added, removed, changed };

struct SchemaChange {
  std::string part;  // "attribute", "input", "output", "type constraint", "operator"
  std::string name;  // of the attribute, parameter or constraint; of an operator's property: "function body"
  ChangeKind kind;
  std::string what;  // "INT, default 0", "default 1 -> 2"
  bool
      breaking;  // some node that is valid in the old version is invalid, or means something else, in the new
  std::string reason;
};

struct SchemaDiff {
  const SchemaInfo* from;
  const SchemaInfo* to;
  std::vector<SchemaChange> changes;
  /// The operator's text or a description reads differently, formatting apart: meaning may have changed where
  /// the schema did not.
  bool text_changed;

  bool breaking() const;
};

/// Inputs and outputs are compared by position, attributes and type constraints by name. Either order of
/// versions will do.
SchemaDiff diff_schemas(const SchemaInfo& from, const SchemaInfo& to);

/// "added", "removed", "changed".
const char* change_name(ChangeKind kind);

}  // namespace grurun::opset
