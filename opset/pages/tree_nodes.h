// The nodes of trees as the lists of TreeEnsembleClassifier and TreeEnsembleRegressor name them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace grurun::opset {

/// Where each (tree id, node id) stands in the lists, which are of one length.
class TreeNodes {
 public:
  struct Entry {
    std::int64_t tree, id;
    std::size_t position;
    auto operator<=>(const Entry&) const = default;
  };

  TreeNodes(std::span<const std::int64_t> trees, std::span<const std::int64_t> ids);

  TreeNodes(const TreeNodes&) = delete;
  TreeNodes& operator=(const TreeNodes&) = delete;

  std::optional<std::size_t> find(std::int64_t tree, std::int64_t id) const;
  /// One that is listed again; nullptr: none is.
  const Entry* find_twice() const;

 private:
  std::vector<Entry> entries_;                 // sorted
  std::vector<std::span<const Entry>> trees_;  // of each tree its entries
};

}  // namespace grurun::opset
