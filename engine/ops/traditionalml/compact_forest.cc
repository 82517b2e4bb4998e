#include "engine/ops/traditionalml/compact_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "tensor/dispatch.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

template <typename C>
using Limits = std::numeric_limits<C>;

/// Numbers from least to most; nothing where least is greater, or one of them NaN.
template <typename C>
struct Range {
  C least, most;
};

template <typename C>
constexpr Range<C> nothing() {
  if constexpr (std::is_integral_v<C>) return {Limits<C>::max(), Limits<C>::min()};
  return {Limits<C>::quiet_NaN(), Limits<C>::quiet_NaN()};
}

template <typename C>
constexpr C lowest() {
  return std::is_integral_v<C> ? Limits<C>::min() : -Limits<C>::infinity();
}

/// The numbers of C up to s, or below it; s is not NaN.
template <typename C>
Range<C> up_to(double s, bool itself) {
  if constexpr (std::is_integral_v<C>) {
    constexpr double end = 0x1p63;
    if (s >= end) return {lowest<C>(), Limits<C>::max()};
    const double most = std::floor(s);
    const bool one_less = !itself && most == s;
    if (most < -end || (one_less && most == -end)) return nothing<C>();
    return {lowest<C>(), static_cast<C>(most) - (one_less ? 1 : 0)};
  } else {
    auto most = static_cast<C>(s);
    const bool above = itself ? static_cast<double>(most) > s : static_cast<double>(most) >= s;
    if (above && most == lowest<C>()) return nothing<C>();
    if (above) most = std::nextafter(most, lowest<C>());
    return {lowest<C>(), most};
  }
}

template <typename C>
Range<C> only(double s) {
  if constexpr (std::is_integral_v<C>) {
    if (!(s >= -0x1p63 && s < 0x1p63) || std::floor(s) != s) return nothing<C>();
  }
  const auto at = static_cast<C>(s);
  if (static_cast<double>(at) != s) return nothing<C>();
  return {at, at};
}

/// Where a comparison holds, or, for the modes that are another's opposite, where it does not.
template <typename C>
Range<C> range_of(NodeMode mode, double split) {
  if (std::isnan(split)) return nothing<C>();
  switch (mode) {
    case NodeMode::leq:
    case NodeMode::gt:
      return up_to<C>(split, true);
    case NodeMode::lt:
    case NodeMode::gte:
      return up_to<C>(split, false);
    default:
      return only<C>(split);
  }
}

/// No comparison with NaN holds, except that it is not equal to anything.
bool is_opposite(NodeMode mode, double split) {
  if (mode == NodeMode::neq) return true;
  return !std::isnan(split) && (mode == NodeMode::gte || mode == NodeMode::gt);
}

/// The number of steps from a root to a leaf, on an average of the leaves.
std::size_t mean_depth_of(const Forest& forest) {
  std::vector<std::size_t> level = forest.roots, below;
  std::vector<char> seen(forest.nodes.size(), 0);
  std::size_t leaves = 0, depths = 0;
  for (std::size_t depth = 0; !level.empty(); ++depth, level.swap(below)) {
    below.clear();
    for (const std::size_t at : level) {
      const TreeNode& node = forest.nodes[at];
      if (node.mode == NodeMode::leaf) {
        ++leaves;
        depths += depth;
        continue;
      }
      for (const std::size_t child : {node.true_child, node.false_child}) {
        if (seen[child] == 0) below.push_back(child);
        seen[child] = 1;
      }
    }
  }
  return leaves == 0 ? 0 : depths / leaves;
}

/// Of each node its place, leaves behind those that branch; the number of these.
std::vector<std::uint32_t> places_of(const Forest& forest, std::uint32_t& branches) {
  constexpr std::size_t most = Limits<std::uint32_t>::max();
  if (std::max(forest.nodes.size(), forest.votes.size()) > most)
    fail_unsupported("trees of more than {} nodes or votes", most);
  const auto is_leaf = [](const TreeNode& node) { return node.mode == NodeMode::leaf; };
  const auto leaf_count = static_cast<std::uint32_t>(std::ranges::count_if(forest.nodes, is_leaf));
  branches = static_cast<std::uint32_t>(forest.nodes.size()) - leaf_count;
  std::vector<std::uint32_t> places;
  std::uint32_t branch = 0, leaf = branches;
  for (const TreeNode& node : forest.nodes) places.push_back(is_leaf(node) ? leaf++ : branch++);
  return places;
}

}  // namespace

MemberSet::MemberSet(std::span<const double> sorted) : members(sorted.begin(), sorted.end()) {
  for (const double member : members) {
    const double offset = member - members.front();
    const bool has_bit = offset >= 0 && offset < 64 && std::floor(member) == member;
    if (!has_bit) {
      bits = 0;
      return;
    }
    bits |= std::uint64_t{1} << static_cast<unsigned>(offset);
  }
}

bool MemberSet::holds(double x) const {
  if (bits == 0) return std::ranges::binary_search(members, x);
  const double offset = x - members.front();
  if (!(offset >= 0 && offset < 64)) return false;
  const auto bit = static_cast<unsigned>(offset);
  return (bits >> bit & 1) != 0 && members.front() + bit == x;
}

template <typename C>
void CompactForest<C>::add(const Forest& forest, const TreeNode& node,
                           const std::vector<std::uint32_t>& places) {
  constexpr auto most_feature = Limits<std::uint32_t>::max();
  if (node.feature > most_feature) fail_unsupported("trees over more than {} features", most_feature);
  least_feature_ = std::min(least_feature_, node.feature);
  most_feature_ = std::max(most_feature_, node.feature);
  const std::uint32_t if_true = places[node.true_child], if_false = places[node.false_child];
  const Range<C> range = range_of<C>(node.mode, node.split);
  RangeBranch<C>& made = ranges_.emplace_back();
  made = {range.least,
          range.most,
          static_cast<std::uint32_t>(node.feature),
          {if_false, if_true, node.missing_tracks_true ? if_true : if_false},
          0};
  if (is_opposite(node.mode, node.split)) std::swap(made.next[0], made.next[1]);
  if (node.mode != NodeMode::member) return;
  sets_.emplace_back(std::span(forest.members).subspan(node.begin, node.end - node.begin));
  made.set = static_cast<std::uint32_t>(sets_.size());
}

/// Whatever the test, the walk stays.
template <typename C>
void CompactForest<C>::add_leaf(const TreeNode& node) {
  const auto place = static_cast<std::uint32_t>(branches_ + leaves_.size());
  leaves_.push_back({static_cast<std::uint32_t>(node.begin), static_cast<std::uint32_t>(node.end)});
  ranges_.push_back({lowest<C>(), lowest<C>(), 0, {place, place, place}, 0});
}

template <typename C>
bool CompactForest<C>::is_said_by(Test test, bool no_nan, const RangeBranch<C>& node) const {
  const auto place = static_cast<std::size_t>(&node - ranges_.data());
  if (place >= branches_) return true;
  if (node.set != 0) return false;
  const bool holds_nowhere = !(node.least <= node.most);
  const bool nan_outside = no_nan || node.next[2] == node.next[0];
  const bool nan_within = no_nan || node.next[2] == node.next[1];
  // No number is up to NaN or equal to it.
  const bool never = holds_nowhere && !std::is_integral_v<C>;
  const bool from_lowest = node.least == lowest<C>() && !holds_nowhere, one = node.least == node.most;
  switch (test) {
    case Test::up_to:
      return (from_lowest || never) && nan_outside;
    case Test::not_above:
      return from_lowest && nan_within;
    case Test::equal:
      return (one || never) && nan_outside;
    case Test::equal_or_nan:
      return one && nan_within;
    case Test::range:
      break;
  }
  return true;
}

/// Does with half of the bytes where one test says all: of any row, or else of those without NaN.
template <typename C>
void CompactForest<C>::make_plain() {
  for (const bool no_nan : {false, true}) {
    for (const Test test : {Test::up_to, Test::not_above, Test::equal, Test::equal_or_nan}) {
      if (!std::ranges::all_of(ranges_, [&](const auto& node) { return is_said_by(test, no_nan, node); }))
        continue;
      test_without_nan_ = test;
      for (const RangeBranch<C>& node : ranges_)
        plain_.push_back({node.most, node.feature, {node.next[0], node.next[1]}});
      if (no_nan) return;
      test_ = test;
      ranges_ = {};
      return;
    }
  }
}

template <typename C>
CompactForest<C>::CompactForest(const Forest& forest) : mean_depth_(mean_depth_of(forest)) {
  const std::vector<std::uint32_t> places = places_of(forest, branches_);
  for (const std::size_t root : forest.roots) roots_.push_back(places[root]);
  for (const TreeNode& node : forest.nodes) {
    if (node.mode != NodeMode::leaf) add(forest, node, places);
  }
  for (const TreeNode& node : forest.nodes) {
    if (node.mode == NodeMode::leaf) add_leaf(node);
  }
  if (std::ranges::all_of(leaves_, [](const VoteRange& votes) { return votes.end == votes.begin + 1; })) {
    for (const VoteRange& votes : leaves_) only_votes_.push_back(forest.votes[votes.begin]);
  }
  make_plain();
  if constexpr (std::is_same_v<C, float>) {
    const bool nan_holds = test_without_nan_ == Test::not_above;
    if (nan_holds || test_without_nan_ == Test::up_to) masks_ = {plain_, branches_, roots_, nan_holds};
  }
}

template <typename C>
template <typename CompactForest<C>::Test test, typename T>
void CompactForest<C>::walk_by(const Walks<T>& walks, std::uint32_t* leaves) const {
  const auto next = [&](const auto& node, C x) {
    if constexpr (test == Test::range) {
      bool is_nan = false;
      if constexpr (std::is_floating_point_v<C>) is_nan = std::isnan(x);
      if (node.set != 0 && !is_nan)
        return node.next[sets_[node.set - 1].holds(static_cast<double>(x)) ? 1 : 0];
      const unsigned within = static_cast<unsigned>(x >= node.least) & static_cast<unsigned>(x <= node.most);
      return node.next[within | static_cast<unsigned>(is_nan) << 1];
    } else {
      const bool holds = test == Test::up_to       ? x <= node.at
                         : test == Test::not_above ? !(x > node.at)
                         : test == Test::equal     ? x == node.at
                                                   : !(x < node.at || x > node.at);
      return node.next[holds ? 1 : 0];
    }
  };
  if constexpr (test == Test::range) {
    walk_all<C>(ranges_.data(), branches_, mean_depth_, walks, leaves, next);
  } else {
    walk_all<C>(plain_.data(), branches_, mean_depth_, walks, leaves, next);
  }
}

template <typename C>
template <typename T>
void CompactForest<C>::walk(const Walks<T>& walks, bool no_nan, std::uint32_t* leaves) const {
  switch (no_nan ? test_without_nan_ : test_) {
    case Test::up_to:
      return walk_by<Test::up_to>(walks, leaves);
    case Test::not_above:
      return walk_by<Test::not_above>(walks, leaves);
    case Test::equal:
      return walk_by<Test::equal>(walks, leaves);
    case Test::equal_or_nan:
      return walk_by<Test::equal_or_nan>(walks, leaves);
    case Test::range:
      return walk_by<Test::range>(walks, leaves);
  }
}

template <typename C>
const CompactForest<C>& CompactForests::of(const Forest& forest) {
  auto& made = std::get<Made<C>>(made_);
  std::call_once(made.once, [&] { made.forest.emplace(forest); });
  return *made.forest;
}

template void CompactForest<float>::walk(const Walks<float>&, bool, std::uint32_t*) const;
template void CompactForest<float>::walk(const Walks<Float16>&, bool, std::uint32_t*) const;
template void CompactForest<double>::walk(const Walks<double>&, bool, std::uint32_t*) const;
template void CompactForest<double>::walk(const Walks<std::int32_t>&, bool, std::uint32_t*) const;
template void CompactForest<std::int64_t>::walk(const Walks<std::int64_t>&, bool, std::uint32_t*) const;

template const CompactForest<float>& CompactForests::of(const Forest&);
template const CompactForest<double>& CompactForests::of(const Forest&);
template const CompactForest<std::int64_t>& CompactForests::of(const Forest&);

}  // namespace grurun::engine
