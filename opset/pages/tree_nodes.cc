#include "opset/pages/tree_nodes.h"

#include <algorithm>

namespace grurun::opset {

TreeNodes::TreeNodes(std::span<const std::int64_t> trees, std::span<const std::int64_t> ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) entries_.push_back({trees[i], ids[i], i});
  std::ranges::sort(entries_);
}

std::optional<std::size_t> TreeNodes::find(std::int64_t tree, std::int64_t id) const {
  const auto found = std::ranges::lower_bound(entries_, Entry{tree, id, 0});
  if (found == entries_.end() || found->tree != tree || found->id != id) return std::nullopt;
  return found->position;
}

const TreeNodes::Entry* TreeNodes::find_twice() const {
  const auto same = [](const Entry& a, const Entry& b) { return a.tree == b.tree && a.id == b.id; };
  const auto twice = std::ranges::adjacent_find(entries_, same);
  return twice == entries_.end() ? nullptr : &*twice;
}

}  // namespace grurun::opset
