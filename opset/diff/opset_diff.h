// What changes in a domain from one opset to another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opset/diff/schema_diff.h"

namespace grurun::opset {

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
