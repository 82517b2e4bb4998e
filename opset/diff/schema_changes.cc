#include "opset/diff/schema_changes.h"

#include <fmt/format.h>

#include <algorithm>

namespace grurun::opset {

void SchemaChanges::add_choices(const std::string& part, const std::string& name,
                                std::span<const std::string> before, std::span<const std::string> after,
                                const std::string& lost) {
  const std::vector<std::string> gone = missing_from(before, after);
  const std::vector<std::string> come = missing_from(after, before);
  if (!come.empty()) {
    add(part, name, ChangeKind::changed, fmt::format("also {}", fmt::join(come, ", ")), false,
        "what nodes have stays valid");
  }
  if (!gone.empty())
    add(part, name, ChangeKind::changed, fmt::format("no longer {}", fmt::join(gone, ", ")), true, lost);
}

std::vector<std::string> missing_from(std::span<const std::string> all, std::span<const std::string> in) {
  std::vector<std::string> missing;
  for (const std::string& name : all) {
    if (std::ranges::find(in, name) == in.end()) missing.push_back(name);
  }
  return missing;
}

}  // namespace grurun::opset
