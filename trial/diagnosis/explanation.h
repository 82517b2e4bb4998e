// What diagnosis says about a recurrent node whose outputs differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace grurun::trial {

struct Explanation {
  /// "reproduced": the expected values come out under the hypotheses, and much data speaks for it;
  /// "suspected": only the structure, or as much data as was fitted, speaks for it;
  /// "unexplained": nothing known fits; the text says where the sides part;
  /// "precision": which side is nearer to the truth, computed in double; of an output instead of a node.
  std::string kind;
  std::string data_set;                  // "test_data_set_0"; empty in the flat layout and in a run
  std::string node;                      // "node 'gru_1' (GRU-14)", "output 'Y'"
  std::vector<std::string> hypotheses;   // stable names, "gate-order", "clip-missing"; empty for the last two
  std::optional<std::uint64_t> max_ulp;  // reproduced: between the expected values and the recomputed ones
  std::string text;                      // one line for people, without the node
};

/// "node 'gru_1' (GRU-14): expected Y is reproduced ...": the line that reports print.
std::string describe(const Explanation& explanation);

}  // namespace grurun::trial
