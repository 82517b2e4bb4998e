#include "engine/ops/traditionalml/forest.h"

#include <algorithm>
#include <type_traits>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/traditionalml/compact_forest.h"
#include "engine/ops/traditionalml/feature_rows.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Features = TypeList<float, double, std::int64_t, std::int32_t, Float16>;

/// Rows that go through a tree together.
constexpr std::int64_t rows_together = 64;
/// Rows between two looks at the time limit.
constexpr std::int64_t rows_between_checks = 4096;
/// Walks that a thread takes at least.
constexpr std::int64_t walks_of_thread = 1024;

/// The votes of some rows, added up in A, those of a row in the order of the trees.
template <typename A>
class Scores {
 public:
  template <typename C>
  Scores(const Forest& forest, const CompactForest<C>& compact, Aggregate aggregate, std::int64_t rows)
      : forest_(forest),
        leaves_(compact.leaves()),
        only_votes_(compact.only_votes()),
        aggregate_(aggregate),
        sums_(forest.targets * static_cast<std::size_t>(rows)),
        seen_(is_extreme() ? sums_.size() : 0),
        out_(forest.targets) {}

  void clear() {
    std::ranges::fill(sums_, A{0});
    std::ranges::fill(seen_, char{0});
  }

  /// The votes of a tree: of the leaf that each row, from the first on, comes to.
  void add(std::span<const std::uint32_t> leaves) {
    if (!only_votes_.empty() && !is_extreme()) {
      A* sums = sums_.data();
      for (const std::uint32_t leaf : leaves) {
        sums[only_votes_[leaf].target] += static_cast<A>(only_votes_[leaf].weight);
        sums += forest_.targets;
      }
      return;
    }
    for (std::size_t row = 0; row < leaves.size(); ++row) {
      if (!only_votes_.empty()) {
        add_vote(row, only_votes_[leaves[row]]);
        continue;
      }
      const VoteRange range = leaves_[leaves[row]];
      for (std::size_t i = range.begin; i < range.end; ++i) add_vote(row, forest_.votes[i]);
    }
  }

  std::span<double> finish(std::size_t row) {
    const A* sums = sums_.data() + row * forest_.targets;
    const auto trees = static_cast<A>(forest_.roots.size());
    for (std::size_t i = 0; i < out_.size(); ++i)
      out_[i] = static_cast<double>(aggregate_ == Aggregate::average ? sums[i] / trees : sums[i]);
    return out_;
  }

 private:
  bool is_extreme() const { return aggregate_ == Aggregate::min || aggregate_ == Aggregate::max; }

  void add_vote(std::size_t row, const Vote& vote) {
    const std::size_t at = row * forest_.targets + vote.target;
    const auto weight = static_cast<A>(vote.weight);
    A& sum = sums_[at];
    if (!is_extreme()) {
      sum += weight;
      return;
    }
    if (seen_[at] == 0) {
      sum += weight;
    } else {
      sum = aggregate_ == Aggregate::min ? std::min(sum, weight) : std::max(sum, weight);
    }
    seen_[at] = 1;
  }

  const Forest& forest_;
  std::span<const VoteRange> leaves_;
  std::span<const Vote> only_votes_;
  Aggregate aggregate_;
  std::vector<A> sums_;
  std::vector<char> seen_;
  std::vector<double> out_;
};

/// Whether it pays to look for NaN, and there is none.
template <typename C, typename T>
bool has_no_nan(const CompactForest<C>& forest, const T* x, std::int64_t width, std::int64_t rows) {
  constexpr std::int64_t looked_at_in_a_walk = 16;  // numbers, in much less than its time
  if (!forest.is_faster_without_nan() ||
      width > looked_at_in_a_walk * static_cast<std::int64_t>(forest.roots().size()))
    return false;
  bool found = false;
  for (std::int64_t i = 0; i < rows * width; ++i) {
    const auto value = static_cast<ComputeType<T>>(x[i]);
    found |= !(value == value);
  }
  return !found;
}

template <typename A, typename T>
void add_votes_by_masks(const MaskForest& forest, const T* x, std::int64_t width, std::size_t rows,
                        Scores<A>& scores) {
  static_assert(rows_together <= MaskRows::most);
  std::uint32_t leaves[MaskRows::most];
  const MaskRows features(x, width, rows, forest.features());
  for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
    forest.find_leaves(tree, features, leaves);
    scores.add({leaves, rows});
  }
}

/// Few trees at a time, which then stay in the cache.
template <typename A, typename C, typename T>
void add_votes(const CompactForest<C>& forest, const T* x, std::int64_t width, std::int64_t rows,
               Scores<A>& scores) {
  static_assert(rows_together <= most_walks);
  std::uint32_t leaves[most_walks];
  const bool no_nan = has_no_nan(forest, x, width, rows);
  const auto count = static_cast<std::size_t>(rows);
  if (forest.masks(no_nan).is_faster_for(count))
    return add_votes_by_masks(forest.masks(no_nan), x, width, count, scores);
  std::span<const std::uint32_t> roots = forest.roots();
  while (!roots.empty()) {
    const auto some = roots.first(std::min(roots.size(), most_walks / count));
    forest.walk(Walks<T>{x, width, count, some}, no_nan, leaves);
    for (std::size_t tree = 0; tree < some.size(); ++tree) scores.add({leaves + tree * count, count});
    roots = roots.subspan(some.size());
  }
}

}  // namespace

Forest::Forest() : compact_(std::make_shared<CompactForests>()) {}

void Forest::run(const Tensor& x, Aggregate aggregate, RunContext& context, const FinishRow& finish) const {
  const FeatureRows rows = feature_rows(x);
  const std::int64_t grain = walks_of_thread / static_cast<std::int64_t>(roots.size() + 1) + 1;
  dispatch(Features{}, x.dtype(), [&]<typename T>() {
    const auto& compact = compact_->of<typename ComparedAs<T>::type>(*this);
    if (!compact.fits(rows.width)) refuse();
    const T* features = x.data<T>();
    const auto run_rows = [&]<typename A>(A, std::int64_t begin, std::int64_t end) {
      Scores<A> scores(*this, compact, aggregate, std::min(rows_together, end - begin));
      for (std::int64_t first = begin; first < end; first += rows_together) {
        const std::int64_t count = std::min(rows_together, end - first);
        scores.clear();
        add_votes(compact, features + first * rows.width, rows.width, count, scores);
        for (std::int64_t row = 0; row < count; ++row)
          finish(first + row, scores.finish(static_cast<std::size_t>(row)));
      }
    };
    for (std::int64_t first = 0; first < rows.count; first += rows_between_checks) {
      context.check_limits();
      const std::int64_t count = std::min(rows_between_checks, rows.count - first);
      kernels::parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
        if (in_double || std::is_same_v<T, double>) {
          run_rows(double{}, first + begin, first + end);
        } else {
          run_rows(float{}, first + begin, first + end);
        }
      });
    }
  });
}

}  // namespace grurun::engine
