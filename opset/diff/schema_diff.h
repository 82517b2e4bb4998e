// What changed between two versions of an operator, and whether a node written for the one still means the
// same under the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opset/diff/schema_diff.h"
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

/// Operators of a domain between two of its opsets, by name; one that is deprecated or absent in both is not
/// listed.
struct OpsetDiff {
  std::vector<const SchemaInfo*> added;       // as of the new opset
  std::vector<SchemaDiff> changed;            // another version, deprecated in neither
  std::vector<const SchemaInfo*> deprecated;  // as of the new opset
  std::vector<const SchemaInfo*> removed;     // as of the old opset
};
OpsetDiff diff_opsets(const std::string& domain, std::int64_t from, std::int64_t to);

}  // namespace grurun::opset
