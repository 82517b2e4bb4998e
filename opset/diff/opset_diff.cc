#include "opset/diff/opset_diff.h"

#include "opset/schema/schema_store.h"

namespace grurun::opset {

OpsetDiff diff_opsets(const std::string& domain, std::int64_t from, std::int64_t to) {
  OpsetDiff diff;
  for (const OperatorName& name : operator_names()) {
    if (name.domain != domain) continue;
    const SchemaInfo* before = find_schema(name.op_type, domain, from);
    const SchemaInfo* after = find_schema(name.op_type, domain, to);
    if (before == after) continue;
    // A deprecated operator is none that a model may use: it comes, changes and goes unseen.
    const bool had = before != nullptr && !before->deprecated;
    const bool has = after != nullptr && !after->deprecated;
    if (had && has) {
      diff.changed.push_back(diff_schemas(*before, *after));
    } else if (has) {
      diff.added.push_back(after);
    } else if (had) {
      if (after == nullptr) {
        diff.removed.push_back(before);
      } else {
        diff.deprecated.push_back(after);
      }
    }
  }
  return diff;
}

}  // namespace grurun::opset
