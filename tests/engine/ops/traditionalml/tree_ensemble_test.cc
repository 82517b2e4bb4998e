// TreeEnsemble-5.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using Ints = std::vector<std::int64_t>;

/// x0 <mode> 0 ? leaf 0 : leaf 1, the leaves 1 and 2 of target 0.
template <typename T>
struct Ensemble {
  Ints roots{0};
  std::vector<double> modes{0}, splits{0};
  Ints features{0}, if_true{0}, if_false{1}, true_is_leaf{1}, false_is_leaf{1};
  std::vector<double> weights{1, 2};
  Ints targets{0, 0};
  std::int64_t n_targets = 1;
  Ints tracks{};
  std::vector<double> members{};
  Attributes more{};

  Attributes attributes() const {
    Attributes out{attr("tree_roots", roots),
                   attr("nodes_modes", vec<std::uint8_t>(modes)),
                   attr("nodes_splits", vec<T>(splits)),
                   attr("nodes_featureids", features),
                   attr("nodes_truenodeids", if_true),
                   attr("nodes_falsenodeids", if_false),
                   attr("nodes_trueleafs", true_is_leaf),
                   attr("nodes_falseleafs", false_is_leaf),
                   attr("leaf_weights", vec<T>(weights)),
                   attr("leaf_targetids", targets),
                   attr("n_targets", n_targets)};
    if (!tracks.empty()) out.push_back(attr("nodes_missing_value_tracks_true", tracks));
    if (!members.empty()) out.push_back(attr("membership_values", vec<T>(members)));
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
};

template <typename T>
OpRowCase row(const char* name, Tensor x, const Ensemble<T>& ensemble, Tensor y) {
  return {name, "ai.onnx.ml:TreeEnsemble", 5, {std::move(x)}, ensemble.attributes(), {std::move(y)}};
}

template <typename T>
void check_modes() {
  const Tensor x = make<T>({4, 1}, {-1, 0, 1, nan});
  const auto mode = [&](double number, std::int64_t tracks, const std::vector<double>& y) {
    return row<T>("mode", x, {.modes = {number}, .tracks = {tracks}}, make<T>({4, 1}, y));
  };
  check_rows({
      mode(0, 0, {1, 1, 2, 2}),
      mode(0, 1, {1, 1, 2, 1}),
      mode(1, 0, {1, 2, 2, 2}),
      mode(1, 1, {1, 2, 2, 1}),
      mode(2, 0, {2, 1, 1, 2}),
      mode(2, 1, {2, 1, 1, 1}),
      mode(3, 0, {2, 2, 1, 2}),
      mode(3, 1, {2, 2, 1, 1}),
      mode(4, 0, {2, 1, 2, 2}),
      mode(4, 1, {2, 1, 2, 1}),
      mode(5, 0, {1, 2, 1, 2}),
      mode(5, 1, {1, 2, 1, 1}),
  });
}

TEST(TreeEnsemble, EveryModeOfEveryType) {
  check_modes<float>();
  check_modes<double>();
  check_modes<Float16>();
}

TEST(TreeEnsemble, Members) {
  // Node 0 asks for {3, 1.5}; else node 1 compares with 7; else node 2 asks for {-2}.
  const Ensemble<float> chain{.modes = {6, 4, 6},
                              .splits = {0, 7, 0},
                              .features = {0, 0, 0},
                              .if_true = {0, 1, 2},
                              .if_false = {1, 2, 3},
                              .true_is_leaf = {1, 1, 1},
                              .false_is_leaf = {0, 0, 1},
                              .weights = {10, 20, 30, 40},
                              .targets = {0, 0, 0, 0},
                              .tracks = {0, 0, 1},
                              .members = {3, 1.5, nan, -2, nan}};
  Ensemble<float> unterminated = chain;
  unterminated.members = {3, 1.5, nan, -2};
  const Ensemble<float> of_nothing{.modes = {6}, .members = {nan}};
  const Tensor x = make<float>({6, 1}, {1.5, 3, 7, -2, 1, nan});
  const Tensor y = make<float>({6, 1}, {10, 10, 20, 30, 40, 30});
  check_rows({
      row("sets in the order of the nodes that ask", x, chain, y),
      row("no NaN after the last set", x, unterminated, y),
      row("an empty set", make<float>({1, 1}, {0}), of_nothing, make<float>({1, 1}, {2})),
  });
}

TEST(TreeEnsemble, Aggregates) {
  // Two stumps over the features 0 and 1, each with a leaf for target 0 and one for target 1.
  const auto with = [](std::int64_t function, std::int64_t transform) {
    return Ensemble<float>{.roots = {0, 1},
                           .modes = {0, 0},
                           .splits = {0, 0},
                           .features = {0, 1},
                           .if_true = {0, 2},
                           .if_false = {1, 3},
                           .true_is_leaf = {1, 1},
                           .false_is_leaf = {1, 1},
                           .weights = {1, 2, 4, -3},
                           .targets = {0, 1, 0, 1},
                           .n_targets = 2,
                           .more = {attr("aggregate_function", function), attr("post_transform", transform)}};
  };
  // They come to the leaves 0 and 2, 1 and 3, 0 and 3.
  const Tensor x = make<float>({3, 2}, {-1, -1, 1, 1, -1, 1});
  const Tensor first = make<float>({1, 2}, {-1, -1});
  const Tensor last = make<float>({1, 2}, {-1, 1});
  const auto logistic = [](double s) { return 1 / (1 + std::exp(-s)); };
  check_rows({
      row("average over the trees", x, with(0, 0), make<float>({3, 2}, {2.5, 0, 0, -0.5, 0.5, -1.5})),
      row("sum", x, with(1, 0), make<float>({3, 2}, {5, 0, 0, -1, 1, -3})),
      row("min", x, with(2, 0), make<float>({3, 2}, {1, 0, 0, -3, 1, -3})),
      row("max", x, with(3, 0), make<float>({3, 2}, {4, 0, 0, 2, 1, -3})),
      row("softmax", last, with(1, 1), make<float>({1, 2}, {logistic(4), logistic(-4)})),
      row("logistic", last, with(1, 2), make<float>({1, 2}, {logistic(1), logistic(-3)})),
      row("softmax of what is not 0", first, with(1, 3), make<float>({1, 2}, {1, 0})),
      row("probit at the end and beyond", last, with(1, 4), make<float>({1, 2}, {INFINITY, nan})),
  });
}

TEST(TreeEnsemble, Leaves) {
  const Ensemble<double> single{.features = {99}, .if_false = {0}};
  const Ensemble<float> twice{.roots = {0, 0}};
  // Either branch of node 0 leads to node 1: no tree, but every path ends.
  const Ensemble<float> joined{.modes = {0, 0},
                               .splits = {0, 0},
                               .features = {0, 0},
                               .if_true = {1, 0},
                               .if_false = {1, 1},
                               .true_is_leaf = {0, 1},
                               .false_is_leaf = {0, 1}};
  const Tensor x = make<float>({2, 1}, {-1, 1});
  check_rows({
      row("a tree of one leaf compares nothing", make<double>({2, 1}, {-1, 1}), single,
          make<double>({2, 1}, {1, 1})),
      row("a tree twice", x, twice, make<float>({2, 1}, {2, 4})),
      row("paths that join", x, joined, make<float>({2, 1}, {1, 2})),
      row("no row", make<float>({0, 1}, {}), Ensemble<float>{}, make<float>({0, 1}, {})),
  });
}

TEST(TreeEnsemble, Malformed) {
  const auto refused = [](const char* name, const Ensemble<float>& ensemble, const char* text,
                          Tensor x = make<float>({1, 1}, {0})) {
    return OpErrorCase{
        name, "ai.onnx.ml:TreeEnsemble", 5, {std::move(x)}, ensemble.attributes(), ErrorKind::invalid_model,
        text};
  };
  const Ensemble<float> two_askers{.modes = {6, 6},
                                   .splits = {0, 0},
                                   .features = {0, 0},
                                   .if_true = {0, 0},
                                   .if_false = {1, 1},
                                   .true_is_leaf = {1, 1},
                                   .false_is_leaf = {1, 1},
                                   .members = {1, 2, nan}};
  check_errors({
      refused("a cycle", {.if_true = {0}, .true_is_leaf = {0}}, "cycle"),
      refused("a leaf too far", {.if_false = {2}}, "there are 2 leaves"),
      refused("a node too far", {.if_true = {1}, .true_is_leaf = {0}}, "there are 1 nodes"),
      refused("a child below 0", {.if_true = {-1}},
              "nodes_truenodeids holds -1, but must hold numbers from 0 on [SCHEMA013]"),
      refused("a root too far", {.roots = {1}}, "tree_roots holds 1"),
      refused("a root below 0", {.roots = {-1}}, "tree_roots holds -1"),
      refused("no tree", {.roots = {}}, "tree_roots is empty"),
      refused("a mode", {.modes = {7}}, "nodes_modes holds 7"),
      refused("a feature too far", {.features = {1}}, "feature 1"),
      refused("a target too far", {.targets = {0, 1}}, "leaf_targetids holds 1"),
      refused("a target below 0", {.targets = {-1, 0}}, "leaf_targetids holds -1"),
      refused("targets", {.targets = {0}}, "leaf_targetids has 1"),
      refused("modes", {.modes = {0, 0}}, "nodes_modes has 2"),
      refused("features", {.features = {0, 0}}, "nodes_featureids has 2"),
      refused("leaf flags", {.false_is_leaf = {}}, "nodes_falseleafs has 0"),
      refused("tracks", {.tracks = {0, 1}}, "tracks_true has 2"),
      refused("no set", {.modes = {6}}, "0 sets"),
      refused("a set too many", {.members = {1, nan}}, "1 sets"),
      refused("a set too few", two_askers, "1 sets"),
      refused("hitrates", {.more = {attr("nodes_hitrates", vec<float>({1, 1}))}}, "nodes_hitrates has 2"),
      refused("a function", {.more = {attr("aggregate_function", 4)}}, "aggregate_function is 4"),
      refused("a transform", {.more = {attr("post_transform", -1)}}, "post_transform is -1"),
      refused("no target", {.n_targets = 0}, "n_targets"),
      refused("X of another type", {}, "must be alike", make<double>({1, 1}, {0})),
      refused("X of another rank", {}, "[N,F]", vec<float>({0})),
  });
  Attributes mixed = Ensemble<float>{}.attributes();
  std::erase_if(mixed, [](const auto& attribute) { return attribute.name == "leaf_weights"; });
  mixed.push_back(attr("leaf_weights", vec<double>({1, 2})));
  check_errors({{"weights of another type",
                 "ai.onnx.ml:TreeEnsemble",
                 5,
                 {make<float>({1, 1}, {0})},
                 mixed,
                 ErrorKind::invalid_model,
                 "leaf_weights is double"}});
}

}  // namespace
}  // namespace grurun::engine::testing
