#include "engine/ops/traditionalml/forest.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/traditionalml/feature_rows.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Features = TypeList<float, double, std::int64_t, std::int32_t, Float16>;

// Features and splits compare as they are: an int64 in a long double, which holds it, all others in a double.
template <typename T>
using Comparable = std::conditional_t<std::is_same_v<T, std::int64_t>, long double, double>;

template <typename C>
bool goes_true(const Forest& forest, const TreeNode& node, C x) {
  // Whatever the comparison would say: "follow the true branch (if attribute value is 1) or false branch (if
  // attribute value is 0) in the presence of a NaN".
  if (std::isnan(x)) return node.missing_tracks_true;
  const auto split = static_cast<C>(node.split);
  switch (node.mode) {
    case NodeMode::leq:
      return x <= split;
    case NodeMode::lt:
      return x < split;
    case NodeMode::gte:
      return x >= split;
    case NodeMode::gt:
      return x > split;
    case NodeMode::eq:
      return x == split;
    case NodeMode::neq:
      return x != split;
    default:
      break;
  }
  const std::span members = std::span(forest.members).subspan(node.begin, node.end - node.begin);
  return std::ranges::binary_search(members, static_cast<double>(x));
}

template <typename T>
const TreeNode& walk(const Forest& forest, std::size_t root, const T* row) {
  const TreeNode* node = &forest.nodes[root];
  while (node->mode != NodeMode::leaf) {
    const auto x = static_cast<Comparable<T>>(static_cast<ComputeType<T>>(row[node->feature]));
    node = &forest.nodes[goes_true(forest, *node, x) ? node->true_child : node->false_child];
  }
  return *node;
}

/// The votes of one row, added up in A.
template <typename A>
class Scores {
 public:
  Scores(std::size_t targets, Aggregate aggregate)
      : aggregate_(aggregate), sums_(targets), seen_(targets), out_(targets) {}

  void clear() {
    std::ranges::fill(sums_, A{0});
    std::ranges::fill(seen_, char{0});
  }

  void add(const Vote& vote) {
    A& sum = sums_[vote.target];
    const auto weight = static_cast<A>(vote.weight);
    if (aggregate_ == Aggregate::min && seen_[vote.target]) {
      sum = std::min(sum, weight);
    } else if (aggregate_ == Aggregate::max && seen_[vote.target]) {
      sum = std::max(sum, weight);
    } else {
      sum += weight;
    }
    seen_[vote.target] = 1;
  }

  std::span<double> finish(std::size_t trees) {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const A value = aggregate_ == Aggregate::average ? sums_[i] / static_cast<A>(trees) : sums_[i];
      out_[i] = static_cast<double>(value);
    }
    return out_;
  }

 private:
  Aggregate aggregate_;
  std::vector<A> sums_;
  std::vector<char> seen_;
  std::vector<double> out_;
};

template <typename A, typename T>
void run_rows(const Forest& forest, Aggregate aggregate, const T* x, std::int64_t width, std::int64_t begin,
              std::int64_t end, const Forest::FinishRow& finish) {
  Scores<A> scores(forest.targets, aggregate);
  for (std::int64_t n = begin; n < end; ++n) {
    scores.clear();
    for (const std::size_t root : forest.roots) {
      const TreeNode& leaf = walk(forest, root, x + n * width);
      for (std::size_t vote = leaf.begin; vote < leaf.end; ++vote) scores.add(forest.votes[vote]);
    }
    finish(n, scores.finish(forest.roots.size()));
  }
}

void check_features(const Forest& forest, std::int64_t width) {
  for (const TreeNode& node : forest.nodes) {
    if (node.mode != NodeMode::leaf && (node.feature < 0 || node.feature >= width)) refuse();
  }
}

}  // namespace

void Forest::run(const Tensor& x, Aggregate aggregate, RunContext& context, const FinishRow& finish) const {
  const FeatureRows rows = feature_rows(x);
  check_features(*this, rows.width);
  constexpr std::int64_t block = 4096;  // the time limit is looked at once a block
  dispatch(Features{}, x.dtype(), [&]<typename T>() {
    const T* features = x.data<T>();
    for (std::int64_t first = 0; first < rows.count; first += block) {
      context.check_limits();
      kernels::parallel_for(
          std::min(block, rows.count - first), 64, [&](std::int64_t begin, std::int64_t end) {
            if (in_double || std::is_same_v<T, double>) {
              run_rows<double>(*this, aggregate, features, rows.width, first + begin, first + end, finish);
            } else {
              run_rows<float>(*this, aggregate, features, rows.width, first + begin, first + end, finish);
            }
          });
    }
  });
}

}  // namespace grurun::engine
