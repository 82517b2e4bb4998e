// The lists of attributes that TreeEnsembleClassifier and TreeEnsembleRegressor have.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {

struct TreeNode {
  std::int64_t tree, id;
  const char* mode = "LEAF";
  std::int64_t feature = 0;
  float split = 0;
  std::int64_t if_true = 0, if_false = 0;
  std::int64_t tracks = 0;
};

struct VoteRow {
  std::int64_t tree, node, target;
  float weight;
};

template <typename Row, typename Field>
auto column(const std::vector<Row>& rows, Field field) {
  std::vector<std::decay_t<decltype(field(rows[0]))>> out;
  for (const Row& row : rows) out.push_back(field(row));
  return out;
}

inline onnx_io::Attribute without(const char* name) {
  return attribute(name, onnx_io::AttributeType::undefined);
}

/// The lists of these nodes and votes. An attribute in `more` takes the place of one of its name, or drops
/// it.
inline Attributes trees(const std::vector<TreeNode>& nodes, const std::vector<VoteRow>& votes,
                        const std::string& prefix, Attributes more) {
  Attributes out{
      attr("nodes_treeids", column(nodes, [](const TreeNode& n) { return n.tree; })),
      attr("nodes_nodeids", column(nodes, [](const TreeNode& n) { return n.id; })),
      attr("nodes_modes", column(nodes, [](const TreeNode& n) { return std::string(n.mode); })),
      attr("nodes_featureids", column(nodes, [](const TreeNode& n) { return n.feature; })),
      attr("nodes_values", column(nodes, [](const TreeNode& n) { return n.split; })),
      attr("nodes_truenodeids", column(nodes, [](const TreeNode& n) { return n.if_true; })),
      attr("nodes_falsenodeids", column(nodes, [](const TreeNode& n) { return n.if_false; })),
      attr("nodes_missing_value_tracks_true", column(nodes, [](const TreeNode& n) { return n.tracks; })),
      attr(prefix + "_treeids", column(votes, [](const VoteRow& v) { return v.tree; })),
      attr(prefix + "_nodeids", column(votes, [](const VoteRow& v) { return v.node; })),
      attr(prefix + "_ids", column(votes, [](const VoteRow& v) { return v.target; })),
      attr(prefix + "_weights", column(votes, [](const VoteRow& v) { return v.weight; }))};
  for (onnx_io::Attribute& extra : more) {
    std::erase_if(out, [&](const auto& made) { return made.name == extra.name; });
    if (extra.type != onnx_io::AttributeType::undefined) out.push_back(std::move(extra));
  }
  return out;
}

// x0 <mode> split ? node 1 : node 2
inline std::vector<TreeNode> stump(std::int64_t tree, const char* mode = "BRANCH_LEQ", float split = 0,
                                   std::int64_t tracks = 0) {
  return {{tree, 0, mode, 0, split, 1, 2, tracks}, {tree, 1}, {tree, 2}};
}

}  // namespace grurun::engine::testing
