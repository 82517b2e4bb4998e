// Which nodes can be left out, and delta debugging over them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"
#include "trial/submodel.h"

namespace grurun::conformance {

/// Nodes of the main graph in groups, in the order of their first ones. Where joined, those between which a
/// value is not known stay together. Constant nodes are in none: they belong to whatever reads them.
std::vector<std::vector<std::size_t>> units_of(const onnx_io::Model& model, const trial::KnownValues& fed,
                                               const trial::KnownValues& known, bool joined);

/// A part of the list for which fails() holds as for the whole, and for no part of it that lacks one item
/// (Zeller and Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002). fails is called for
/// proper parts only.
template <typename Item, typename Fails>
std::vector<Item> minimal_list(std::vector<Item> items, const Fails& fails) {
  std::size_t pieces = 2;
  while (items.size() >= 2) {
    const std::size_t size = (items.size() + pieces - 1) / pieces;
    const auto piece_at = [&](std::size_t begin, bool without) {
      const std::size_t end = std::min(begin + size, items.size());
      std::vector<Item> out;
      for (std::size_t i = 0; i < items.size(); ++i)
        if ((i >= begin && i < end) != without) out.push_back(items[i]);
      return out;
    };
    bool is_smaller = false;
    for (const bool without : {false, true}) {
      // With two pieces each is what the other leaves out.
      for (std::size_t begin = 0; begin < items.size() && !is_smaller && !(without && pieces == 2);
           begin += size) {
        std::vector<Item> part = piece_at(begin, without);
        if (part.empty() || part.size() == items.size() || !fails(std::as_const(part))) continue;
        items = std::move(part);
        pieces = without ? std::max<std::size_t>(pieces - 1, 2) : 2;
        is_smaller = true;
      }
    }
    if (is_smaller) continue;
    if (pieces >= items.size()) break;
    pieces = std::min(pieces * 2, items.size());
  }
  return items;
}

}  // namespace grurun::conformance
