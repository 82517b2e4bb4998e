// TreeEnsembleClassifier and TreeEnsembleRegressor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

struct Node {
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

onnx_io::Attribute without(const char* name) {
  return attribute(name, onnx_io::AttributeType::undefined);
}

/// The lists of these nodes and votes. An attribute in `more` takes the place of one of its name, or drops
/// it.
Attributes trees(const std::vector<Node>& nodes, const std::vector<VoteRow>& votes, const std::string& prefix,
                 Attributes more) {
  Attributes out{
      attr("nodes_treeids", column(nodes, [](const Node& n) { return n.tree; })),
      attr("nodes_nodeids", column(nodes, [](const Node& n) { return n.id; })),
      attr("nodes_modes", column(nodes, [](const Node& n) { return std::string(n.mode); })),
      attr("nodes_featureids", column(nodes, [](const Node& n) { return n.feature; })),
      attr("nodes_values", column(nodes, [](const Node& n) { return n.split; })),
      attr("nodes_truenodeids", column(nodes, [](const Node& n) { return n.if_true; })),
      attr("nodes_falsenodeids", column(nodes, [](const Node& n) { return n.if_false; })),
      attr("nodes_missing_value_tracks_true", column(nodes, [](const Node& n) { return n.tracks; })),
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

Attributes regressor(const std::vector<Node>& nodes, const std::vector<VoteRow>& votes,
                     Attributes more = {}) {
  more.insert(more.begin(), attr("n_targets", 1));
  return trees(nodes, votes, "target", std::move(more));
}

// x0 <= 0.5 ? node 1 : (x1 > 2 ? node 3 : node 4)
const std::vector<Node> two_levels{
    {0, 0, "BRANCH_LEQ", 0, 0.5F, 1, 2}, {0, 1}, {0, 2, "BRANCH_GT", 1, 2, 3, 4}, {0, 3}, {0, 4}};
const std::vector<VoteRow> one_two_three{{0, 1, 0, 1}, {0, 3, 0, 2}, {0, 4, 0, 3}};

// x0 <mode> split ? node 1 : node 2
std::vector<Node> stump(std::int64_t tree, const char* mode = "BRANCH_LEQ", float split = 0,
                        std::int64_t tracks = 0) {
  return {{tree, 0, mode, 0, split, 1, 2, tracks}, {tree, 1}, {tree, 2}};
}

OpRowCase regression(const char* name, std::int64_t opset, Tensor x, Attributes attributes, Tensor y) {
  return {name,          "ai.onnx.ml:TreeEnsembleRegressor", opset, {std::move(x)}, std::move(attributes),
          {std::move(y)}};
}

TEST(TreeEnsembleRegressor, Walks) {
  const Attributes model = regressor(two_levels, one_two_three);
  const std::vector<double> x{0.5, 9, 0.6, 2, 0.6, 2.1};
  const Tensor y = make<float>({3, 1}, {1, 3, 2});
  std::vector<Node> leaf_first = two_levels;
  std::rotate(leaf_first.begin(), leaf_first.begin() + 1, leaf_first.end());
  check_rows({
      regression("float", 1, make<float>({3, 2}, x), model, y),
      regression("double", 3, make<double>({3, 2}, x), model, y),
      regression("version 5", 5, make<double>({3, 2}, x), model, y),
      regression("int64", 1, make<std::int64_t>({3, 2}, {0, 9, 1, 2, 1, 3}), model, y),
      regression("int32", 1, make<std::int32_t>({3, 2}, {0, 9, 1, 2, 1, 3}), model, y),
      regression("a row alone", 1, vec<float>({0.6, 3}), model, make<float>({1, 1}, {2})),
      regression("no row", 1, make<float>({0, 2}, {}), model, make<float>({0, 1}, {})),
      regression("a root that is not listed first", 1, make<float>({3, 2}, x),
                 regressor(leaf_first, one_two_three), y),
      regression("a tree of one leaf", 1, vec<float>({7}), regressor({{0, 0}}, {{0, 0, 0, 4}}),
                 make<float>({1, 1}, {4})),
      regression("a leaf without a vote", 1, vec<float>({-1}), regressor(stump(0), {{0, 2, 0, 4}}),
                 make<float>({1, 1}, {0})),
      regression(
          "ids of any order and size", 1, vec<float>({1}),
          regressor({{9, -5, "BRANCH_LT", 0, 2, 70, 3}, {9, 3}, {9, 70}}, {{9, 70, 0, 4}, {9, 3, 0, 5}}),
          make<float>({1, 1}, {4})),
  });
}

/// What a row of two features comes to in many stumps of all modes, added up as the standard says it.
float sum_of_stumps(const std::vector<Node>& stumps, const float* x) {
  float sum = 0;
  for (std::size_t i = 0; i < stumps.size(); i += 3) {
    const Node& node = stumps[i];
    const float value = x[node.feature], split = node.split;
    const std::string mode = node.mode;
    const bool holds = std::isnan(value)      ? node.tracks != 0
                       : mode == "BRANCH_LEQ" ? value <= split
                       : mode == "BRANCH_LT"  ? value < split
                       : mode == "BRANCH_GTE" ? value >= split
                       : mode == "BRANCH_GT"  ? value > split
                       : mode == "BRANCH_EQ"  ? value == split
                                              : value != split;
    sum += holds ? static_cast<float>(i + 1) : -0.1F * static_cast<float>(i);
  }
  return sum;
}

// Few rows go through several trees at a time, many through one; forests of one mode have nodes of their own.
TEST(TreeEnsembleRegressor, AnyNumberOfRowsThroughForestsOfOneModeAndOfAll) {
  const std::vector<const char*> all{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                     "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  std::vector<std::vector<const char*>> forests{all};
  for (const char* mode : all) forests.push_back({mode});
  std::vector<OpRowCase> rows;
  for (const auto& modes : forests) {
    for (const std::int64_t tracks : {0, 1}) {
      std::vector<Node> nodes;
      std::vector<VoteRow> votes;
      for (std::int64_t tree = 0; tree < 70; ++tree) {
        std::vector<Node> made = stump(tree, modes[static_cast<std::size_t>(tree) % modes.size()],
                                       0.5F * static_cast<float>(tree % 7 - 3), tracks);
        made[0].feature = tree % 2;
        votes.push_back({tree, 1, 0, static_cast<float>(nodes.size() + 1)});
        votes.push_back({tree, 2, 0, -0.1F * static_cast<float>(nodes.size())});
        nodes.insert(nodes.end(), made.begin(), made.end());
      }
      for (const std::int64_t count : {1, 5, 13, 70}) {
        Floats x, y;
        for (std::int64_t n = 0; n < count; ++n) {
          x.push_back(n % 11 == 10 ? static_cast<float>(nan) : 0.25F * static_cast<float>(n % 17 - 8));
          x.push_back(n % 13 == 12 ? std::numeric_limits<float>::infinity()
                                   : 0.5F * static_cast<float>(n % 7));
          y.push_back(sum_of_stumps(nodes, &x[x.size() - 2]));
        }
        rows.push_back(regression(modes.size() == 1 ? modes[0] : "all modes", 3,
                                  Tensor::from<float>(Shape{count, 2}, x), regressor(nodes, votes),
                                  Tensor::from<float>(Shape{count, 1}, y)));
      }
    }
  }
  check_rows(rows);
}

TEST(TreeEnsembleRegressor, EveryMode) {
  const std::vector<VoteRow> votes{{0, 1, 0, 1}, {0, 2, 0, 0}};
  const Tensor x = make<float>({4, 1}, {-1, 0, 1, nan});
  const auto row = [&](const char* mode, std::int64_t tracks, const std::vector<double>& y) {
    return regression(mode, 3, x, regressor(stump(0, mode, 0, tracks), votes), make<float>({4, 1}, y));
  };
  // A NaN goes where the node says, also where the comparison with it would hold.
  check_rows({
      row("BRANCH_LEQ", 0, {1, 1, 0, 0}),
      row("BRANCH_LEQ", 1, {1, 1, 0, 1}),
      row("BRANCH_LT", 0, {1, 0, 0, 0}),
      row("BRANCH_LT", 1, {1, 0, 0, 1}),
      row("BRANCH_GTE", 0, {0, 1, 1, 0}),
      row("BRANCH_GTE", 1, {0, 1, 1, 1}),
      row("BRANCH_GT", 0, {0, 0, 1, 0}),
      row("BRANCH_GT", 1, {0, 0, 1, 1}),
      row("BRANCH_EQ", 0, {0, 1, 0, 0}),
      row("BRANCH_EQ", 1, {0, 1, 0, 1}),
      row("BRANCH_NEQ", 0, {1, 0, 1, 0}),
      row("BRANCH_NEQ", 1, {1, 0, 1, 1}),
  });
}

TEST(TreeEnsembleRegressor, Precision) {
  const std::vector<VoteRow> votes{{0, 1, 0, 1}, {0, 2, 0, 0}};
  const Tensor large =
      Tensor::from<std::int64_t>(Shape{2, 1}, Ints{(std::int64_t{1} << 53) + 1, std::int64_t{1} << 53});
  const Tensor tenth = make<double>({1, 1}, {static_cast<double>(0.1F)});  // a little above 0.1
  const std::vector<Node> three{{0, 0}, {1, 0}, {2, 0}};
  const std::vector<VoteRow> cancelling{{0, 0, 0, 1e8F}, {1, 0, 0, 1}, {2, 0, 0, -1e8F}};
  const Attributes split_in_double{without("nodes_values"),
                                   attr("nodes_values_as_tensor", vec<double>({0.1, 0, 0}))};
  const Attributes weights_in_double{without("target_weights"),
                                     attr("target_weights_as_tensor", vec<double>({1e8, 1, -1e8}))};
  check_rows({
      regression("integers beyond a double's", 1, large, regressor(stump(0, "BRANCH_LEQ", 0x1p53F), votes),
                 make<float>({2, 1}, {0, 1})),
      regression("a split in float", 3, tenth, regressor(stump(0, "BRANCH_LEQ", 0.1F), votes),
                 make<float>({1, 1}, {1})),
      regression("a split in double", 3, tenth, regressor(stump(0), votes, split_in_double),
                 make<float>({1, 1}, {0})),
      regression("a sum in float", 3, vec<float>({0}), regressor(three, cancelling),
                 make<float>({1, 1}, {0})),
      regression("a sum in double for weights in double", 3, vec<float>({0}),
                 regressor(three, cancelling, weights_in_double), make<float>({1, 1}, {1})),
      regression("a sum in double for X in double", 1, vec<double>({0}), regressor(three, cancelling),
                 make<float>({1, 1}, {1})),
  });
}

TEST(TreeEnsembleRegressor, Aggregates) {
  std::vector<Node> nodes = stump(0);
  for (const Node& node : stump(1, "BRANCH_GT", 5)) nodes.push_back(node);
  // At x = 0 tree 0 votes 1 and 5 for target 0 and -2 for target 1, tree 1 votes 3 for target 0.
  const std::vector<VoteRow> votes{{0, 1, 0, 1}, {0, 1, 1, -2}, {0, 1, 0, 5}, {1, 2, 0, 3}};
  const auto row = [&](const char* function, const char* transform, const Floats& base,
                       const std::vector<double>& y) {
    Attributes more{attr("n_targets", 3), attr("aggregate_function", function),
                    attr("post_transform", transform)};
    if (!base.empty()) more.push_back(attr("base_values", base));
    return regression(function, 1, vec<float>({0}), trees(nodes, votes, "target", more),
                      make<float>({1, 3}, y));
  };
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double e = std::exp(1.0);
  check_rows({
      row("SUM", "NONE", {}, {9, -2, 0}),
      row("AVERAGE", "NONE", {}, {4.5, -1, 0}),
      row("MIN", "NONE", {}, {1, -2, 0}),
      row("MAX", "NONE", {}, {5, -2, 0}),
      row("AVERAGE", "NONE", {10, 20, 30}, {14.5, 19, 30}),
      row("MIN", "NONE", {10, 20, 30}, {11, 18, 30}),
      row("MIN", "LOGISTIC", {}, {logistic(1), logistic(-2), 0.5}),
      row("MIN", "SOFTMAX", {0, 3, 0}, {e / (2 * e + 1), e / (2 * e + 1), 1 / (2 * e + 1)}),
      row("MIN", "SOFTMAX_ZERO", {0, 3, 0}, {0.5, 0.5, 0}),
      row("SUM", "PROBIT", {-8.75F, 2.5F, 0.75F}, {-0.6744897501960817, 0, 0.6744897501960817}),
      regression("one target is transformed, too", 1, vec<float>({0}),
                 regressor(stump(0), {{0, 1, 0, 2}}, {attr("post_transform", "LOGISTIC")}),
                 make<float>({1, 1}, {logistic(2)})),
  });
}

OpErrorCase refused(const char* name, Attributes attributes, const char* text, std::int64_t opset = 3) {
  return {name,
          "ai.onnx.ml:TreeEnsembleRegressor",
          opset,
          {vec<float>({0})},
          std::move(attributes),
          ErrorKind::invalid_model,
          text};
}

TEST(TreeEnsembleRegressor, MalformedTrees) {
  const auto tree = [](const char* name, const std::vector<Node>& nodes, const char* text) {
    return refused(name, regressor(nodes, {}), text);
  };
  check_errors({
      tree("a cycle", {{0, 0, "BRANCH_LT", 0, 0, 1, 2}, {0, 1, "BRANCH_LT", 0, 0, 0, 2}, {0, 2}}, "cycle"),
      tree("a cycle apart", {{0, 0}, {0, 1, "BRANCH_LT", 0, 0, 2, 0}, {0, 2, "BRANCH_LT", 0, 0, 1, 0}},
           "cycle"),
      tree("a node its own child", {{0, 0, "BRANCH_LT", 0, 0, 0, 1}, {0, 1}}, "cycle"),
      tree("no such child", {{0, 0, "BRANCH_LT", 0, 0, 1, 7}, {0, 1}}, "child 7"),
      tree("a child of another tree", {{0, 0, "BRANCH_LT", 0, 0, 1, 2}, {0, 1}, {1, 2}}, "child 2"),
      tree("a negative child", {{0, 0, "BRANCH_LT", 0, 0, 1, -1}, {0, 1}}, "child -1"),
      tree("a node twice", {{0, 0}, {0, 0}}, "twice"),
      tree("no node", {}, "nodes_nodeids is empty"),
      tree("a feature too far", {{0, 0, "BRANCH_LT", 1, 0, 1, 2}, {0, 1}, {0, 2}}, "feature 1"),
      tree("a feature below 0", {{0, 0, "BRANCH_LT", -1, 0, 1, 2}, {0, 1}, {0, 2}}, "feature -1"),
      tree("a mode", {{0, 0, "BRANCH_MEMBER", 0, 0, 1, 2}, {0, 1}, {0, 2}}, "BRANCH_MEMBER"),
      refused("a vote at no node", regressor(stump(0), {{0, 3, 0, 1}}), "not listed"),
      refused("a vote in no tree", regressor(stump(0), {{1, 1, 0, 1}}), "not listed"),
      refused("a vote above the leaves", regressor(stump(0), {{0, 0, 0, 1}}), "no leaf"),
      refused("a vote for no target", regressor(stump(0), {{0, 1, 1, 1}}), "[0, 1)"),
      refused("a vote below target 0", regressor(stump(0), {{0, 1, -1, 1}}), "-1"),
  });
}

TEST(TreeEnsembleRegressor, MalformedLists) {
  const auto with = [](const char* name, Attributes more, const char* text, std::int64_t opset = 3) {
    return refused(name, regressor(stump(0), {{0, 1, 0, 1}}, std::move(more)), text, opset);
  };
  const Attributes tensor_weights{without("target_weights"),
                                  attr("target_weights_as_tensor", vec<double>({1}))};
  const Attributes float_tensor{without("target_weights"), attr("target_weights_as_tensor", vec<float>({1}))};
  check_errors({
      with("splits", {attr("nodes_values", Floats{0})}, "nodes_values has 1"),
      with("modes", {attr("nodes_modes", Words{"LEAF"})}, "nodes_modes has 1"),
      with("features", {attr("nodes_featureids", Ints{0})}, "nodes_featureids has 1"),
      with("children", {attr("nodes_truenodeids", Ints{0})}, "nodes_truenodeids has 1"),
      with("other children", {without("nodes_falsenodeids")}, "nodes_falsenodeids has 0"),
      with("tracks", {attr("nodes_missing_value_tracks_true", Ints{1})}, "tracks_true has 1"),
      with("hitrates", {attr("nodes_hitrates", Floats{1})}, "nodes_hitrates has 1"),
      with("no tree ids", {without("nodes_treeids")}, "nodes_treeids has 0"),
      with("weights", {attr("target_weights", Floats{1, 2})}, "target_weights has 2"),
      with("targets", {attr("target_ids", Ints{})}, "target_ids has 0"),
      with("trees of votes", {attr("target_treeids", Ints{0, 0})}, "target_treeids has 2"),
      with("base_values", {attr("base_values", Floats{1, 2})}, "base_values has 2"),
      with("no target", {attr("n_targets", 0)}, "n_targets"),
      with("function", {attr("aggregate_function", "MEAN")}, "MEAN"),
      with("transform", {attr("post_transform", "SIGMOID")}, "SIGMOID"),
      with("a list twice", {attr("target_weights_as_tensor", vec<double>({1}))}, "both given"),
      with("a tensor of float", float_tensor, "target_weights_as_tensor is float, but must be double"),
      with("a tensor in version 1", tensor_weights, "target_weights", 1),
  });
}

OpRowCase classification(const char* name, Tensor x, const std::vector<VoteRow>& votes, Attributes more,
                         Tensor y, const std::vector<double>& z, std::int64_t opset = 3) {
  const std::int64_t rows = y.size();
  const Shape shape{rows, static_cast<std::int64_t>(z.size()) / rows};
  return {name,
          "ai.onnx.ml:TreeEnsembleClassifier",
          opset,
          {std::move(x)},
          trees(stump(0), votes, "class", std::move(more)),
          {std::move(y), make<float>(shape, z)}};
}

TEST(TreeEnsembleClassifier, ManyClasses) {
  const onnx_io::Attribute labels = attr("classlabels_int64s", Ints{10, 20, 30});
  const onnx_io::Attribute names = attr("classlabels_strings", Words{"a", "b", "c"});
  const std::vector<VoteRow> votes{{0, 1, 0, -1}, {0, 1, 1, -2}, {0, 2, 1, 2}, {0, 2, 2, 2}};
  const Tensor x = make<float>({2, 1}, {-1, 1});
  const Tensor low = make<float>({1, 1}, {-1});
  const Tensor high = make<double>({1, 1}, {1});
  const onnx_io::Attribute base = attr("base_values", Floats{3, 0, 0.5F});
  const onnx_io::Attribute base_in_double = attr("base_values_as_tensor", vec<double>({3, 0, 0.5}));
  const double e = std::exp(2.0);
  check_rows({
      // A class without a vote has the score 0.
      classification("the highest score, the first of several", x, votes, {labels},
                     vec<std::int64_t>({30, 20}), {-1, -2, 0, 0, 2, 2}),
      classification("labels that are strings", x, votes, {names},
                     Tensor::from<std::string>({2}, Words{"c", "b"}), {-1, -2, 0, 0, 2, 2}, 1),
      classification("base_values", x, votes, {labels, base}, vec<std::int64_t>({10, 10}),
                     {2, -2, 0.5, 3, 2, 2.5}),
      classification("base_values in double", x, votes, {labels, base_in_double}, vec<std::int64_t>({10, 10}),
                     {2, -2, 0.5, 3, 2, 2.5}, 5),
      classification("the class is that of the scores before the transform", low, votes,
                     {labels, attr("post_transform", "SOFTMAX_ZERO")}, vec<std::int64_t>({30}),
                     {1 / (1 + std::exp(-1.0)), 1 / (1 + std::exp(1.0)), 0}),
      classification("SOFTMAX", high, votes, {labels, attr("post_transform", "SOFTMAX")},
                     vec<std::int64_t>({20}), {1 / (1 + 2 * e), e / (1 + 2 * e), e / (1 + 2 * e)}),
  });
}

TEST(TreeEnsembleClassifier, TwoClasses) {
  const std::vector<VoteRow> probability{{0, 1, 0, 0.25F}, {0, 2, 0, 0.75F}};
  const std::vector<VoteRow> margin{{0, 1, 0, -0.25F}, {0, 2, 0, 0.25F}};
  const std::vector<VoteRow> second{{0, 1, 1, -0.25F}, {0, 2, 1, 0.75F}};
  const std::vector<VoteRow> both{{0, 1, 0, 0.75F}, {0, 1, 1, 0.25F}, {0, 2, 1, 1}};
  const auto row = [&](const char* name, const std::vector<VoteRow>& votes, Attributes more,
                       const std::vector<double>& y, const std::vector<double>& z) {
    more.push_back(attr("classlabels_int64s", Ints{10, 20}));
    return classification(name, make<float>({2, 1}, {-1, 1}), votes, std::move(more), vec<std::int64_t>(y),
                          z);
  };
  const auto transformed = [](const char* name) { return attr("post_transform", name); };
  const auto base = [](Floats values) { return attr("base_values", std::move(values)); };
  const auto logistic = [](double s) { return 1 / (1 + std::exp(-s)); };
  const double quartile = 0.6744897501960817;  // where the normal distribution reaches 0.75
  check_rows({
      row("one score, a probability", probability, {}, {10, 20}, {0.75, 0.25, 0.25, 0.75}),
      row("with a base value", probability, {base({0.5F})}, {20, 20}, {0.25, 0.75, -0.25, 1.25}),
      row("its PROBIT", probability, {transformed("PROBIT")}, {10, 20},
          {quartile, -quartile, -quartile, quartile}),
      row("one score, a margin", margin, {}, {10, 20}, {0.25, -0.25, -0.25, 0.25}),
      row("its LOGISTIC", margin, {transformed("LOGISTIC")}, {10, 20},
          {logistic(0.25), logistic(-0.25), logistic(-0.25), logistic(0.25)}),
      row("its SOFTMAX", margin, {transformed("SOFTMAX")}, {10, 20},
          {logistic(0.5), logistic(-0.5), logistic(-0.5), logistic(0.5)}),
      row("LOGISTIC takes a margin, whatever its sign", probability, {transformed("LOGISTIC")}, {20, 20},
          {logistic(-0.25), logistic(0.25), logistic(-0.75), logistic(0.75)}),
      row("votes for the second class alone", second, {}, {10, 20}, {0, -0.25, 0, 0.75}),
      row("votes for both", both, {}, {10, 20}, {0.75, 0.25, 0, 1}),
      row("two base values are one for each", probability, {base({0, 0.5F})}, {20, 10},
          {0.25, 0.5, 0.75, 0.5}),
  });
  const auto refuse = [&](const char* name, Attributes more, const char* text, ErrorKind kind) {
    return OpErrorCase{name,
                       "ai.onnx.ml:TreeEnsembleClassifier",
                       3,
                       {vec<float>({0})},
                       trees(stump(0), both, "class", std::move(more)),
                       kind,
                       text,
                       2};
  };
  const onnx_io::Attribute labels = attr("classlabels_int64s", Ints{10, 20});
  const onnx_io::Attribute names = attr("classlabels_strings", Words{"a", "b"});
  check_errors({
      refuse("one base value for votes of both", {labels, base({1})}, "base_values has 1",
             ErrorKind::invalid_model),
      refuse("one label", {attr("classlabels_int64s", Ints{1})}, "single class label",
             ErrorKind::unsupported),
      refuse("no label", {}, "classlabels", ErrorKind::invalid_model),
      refuse("labels of both kinds", {labels, names}, "not both", ErrorKind::invalid_model),
  });
}

}  // namespace
}  // namespace grurun::engine::testing
