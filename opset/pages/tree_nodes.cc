#include "opset/pages/tree_nodes.h"

#include <algorithm>

namespace grurun::opset {

TreeNodes::TreeNodes(std::span<const std::int64_t> trees, std::span<const std::int64_t> ids) {
  entries_.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) entries_.push_back({trees[i], ids[i], i});
  if (!std::ranges::is_sorted(entries_)) std::ranges::sort(entries_);
  std::size_t first = 0;
  for (std::size_t i = 1; i <= entries_.size(); ++i) {
    if (i < entries_.size() && entries_[i].tree == entries_[first].tree) continue;
    trees_.push_back(std::span(entries_).subspan(first, i - first));
    first = i;
  }
}

std::optional<std::size_t> TreeNodes::find(std::int64_t tree, std::int64_t id) const {
  const auto of_tree =
      std::ranges::lower_bound(trees_, tree, {}, [](const auto& all) { return all.front().tree; });
  if (of_tree == trees_.end() || of_tree->front().tree != tree) return std::nullopt;
  // The ids of a tree mostly follow each other.
  const std::size_t ahead = static_cast<std::size_t>(id) - static_cast<std::size_t>(of_tree->front().id);
  if (ahead < of_tree->size() && (*of_tree)[ahead].id == id) return (*of_tree)[ahead].position;
  const auto found = std::ranges::lower_bound(*of_tree, id, {}, &Entry::id);
  if (found == of_tree->end() || found->id != id) return std::nullopt;
  return found->position;
}

const TreeNodes::Entry* TreeNodes::find_twice() const {
  const auto same = [](const Entry& a, const Entry& b) { return a.tree == b.tree && a.id == b.id; };
  const auto twice = std::ranges::adjacent_find(entries_, same);
  return twice == entries_.end() ? nullptr : &*twice;
}

}  // namespace grurun::opset
