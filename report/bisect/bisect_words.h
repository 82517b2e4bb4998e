// What the formats of a bisection have in common: its sentences.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/bisect/bisect_format.h"

namespace grurun::report {

/// Those that were looked at alone, up to the one that is made where it is seen; none where what differs is
/// not counted.
std::vector<const trial::ValueDifference*> looked_at(const trial::Bisection& bisection);

/// "node 'norm2' (LayerNormalization-17), output 'normed2'".
std::string shown(const trial::ValueDifference& difference);

/// "24 of 24 elements differ, by at most 0.223".
std::string amount(const trial::Comparison& comparison);

/// "SNR 12.3 dB, cosine 0.98, max abs 0.1, 1234 ULP".
std::string how_far(const trial::Comparison& comparison);

/// What the node does by itself.
std::string alone(const trial::ValueDifference& difference);

/// What is known of a node that is wrong, a line each.
std::vector<std::string> detail_lines(const trial::ValueDifference& difference);

/// The line that says which node is the first.
std::string first_line(const trial::Bisection& bisection);
std::string first_line(const BisectReport& report);

/// What is known beside the first line: "input 'v0', a tensor(float) [3], from -4 to 2, there -1"; "held,
/// too, by weight 'w', ...". As many as people read.
std::vector<std::string> found_lines(const trial::FoundOddity& found);

/// Of those of the ranking that make any error, as many as people read.
std::span<const trial::ValueDifference> ranked(const trial::Bisection& bisection);

}  // namespace grurun::report
