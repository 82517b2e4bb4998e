// Ways to make a candidate smaller that keep its nodes: sizes, names, numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/reduce/truth.h"

namespace grurun::conformance {

/// The first elements along each axis.
Tensor leading_part(const Tensor& tensor, const Shape& shape);

/// Where a size is changed.
struct Resize {
  std::int64_t from = 0, to = 0;
  bool inputs_only = false;  // else in initializers and constants, too
  bool multiples = false;    // sizes of k * from become k * to
  bool numbers = false;      // integers of attributes and of small constants, too
};

/// Sizes above 1 that axes of the candidate's inputs and weights have, the largest first.
std::vector<std::int64_t> sizes_of(const Candidate& candidate);

/// The candidate with sizes changed, expectations left as they were.
Candidate resized(const Candidate& candidate, const Resize& resize);

/// Values, nodes and graphs have names without a meaning, the same in both models.
Candidate renamed(const Candidate& candidate);

/// Floating weights, and those of the other model that have the same name, and inputs of this name are random
/// numbers within the range of the tensor that was there.
Candidate with_random_numbers(const Candidate& candidate, const std::string& name, std::uint64_t seed);

}  // namespace grurun::conformance
