// Where elements of a recurrent node's outputs come out that Slice, Gather, Split and Concat have picked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trial/diagnosis/subject.h"

namespace grurun::trial::diagnosis {

/// elements: which ones of output `output` of the node, of this shape, the graph's output holds.
struct SourceElements {
  std::size_t graph_output;
  std::size_t output;
  Shape shape;
  std::vector<std::int64_t> elements;
};

/// Adds the exit, unless that output has one; nothing where the elements are neither all of the output nor Y
/// at one time of each direction.
void add_source_elements(Subject& subject, const SourceElements& picked);

/// For a node of two directions, by direction: it as a layer of that one alone, whose outputs of the graph
/// are those of `picked` that hold one direction's elements. nullopt where no such comes out.
std::array<std::optional<Subject>, 2> seen_alone(const Subject& both,
                                                 const std::vector<SourceElements>& picked);

}  // namespace grurun::trial::diagnosis
