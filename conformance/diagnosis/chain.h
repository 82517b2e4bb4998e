// Stacked layers: an exporter makes one mistake in each of them, and only the last one's outputs are seen.
#pragma once

#include <string>
#include <vector>

#include "conformance/diagnosis/expected.h"
#include "conformance/diagnosis/hypotheses.h"
#include "conformance/diagnosis/subject.h"

namespace grurun::conformance::diagnosis {

/// The layers below one, each of which gets its X from the next one's Y.
class Chain {
 public:
  explicit Chain(const Subject& top);

  bool empty() const { return links_.empty(); }
  /// "node 'gru_1' (GRU-14) and node 'gru_0' (GRU-14)".
  std::string text() const;

  /// Those of the layer next to the top one.
  const std::vector<Hypothesis>& hypotheses_below() const { return links_.back().hypotheses; }

  /// The top layer's X [seq_length, batch_size, input_size] with this hypothesis, of whichever layer it is,
  /// applied to each layer below. nullptr where one does not know it, or its sizes do not fit any more.
  Array X_with(const Hypothesis& hypothesis, Budget& budget) const;

 private:
  struct Link {
    const Below* below;
    const Subject* above;
    std::vector<Hypothesis> hypotheses;
  };
  std::vector<Link> links_;  // the lowest first
};

}  // namespace grurun::conformance::diagnosis
