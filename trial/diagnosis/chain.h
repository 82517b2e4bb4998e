// Stacked layers: an exporter makes one mistake in each of them, or in one, and only the last one's outputs
// are seen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trial/diagnosis/expected.h"
#include "trial/diagnosis/hypotheses.h"
#include "trial/diagnosis/subject.h"

namespace grurun::trial::diagnosis {

/// The layers below one, each of which gets its X from the next one's Y.
class Chain {
 public:
  explicit Chain(const Subject& top);

  /// How many there are; they are numbered from the lowest up.
  std::size_t size() const { return links_.size(); }
  /// "node 'gru_1' (GRU-14) and node 'gru_0' (GRU-14)", or the one.
  std::string text(std::optional<std::size_t> only = std::nullopt) const;

  const std::vector<Hypothesis>& hypotheses_of(std::size_t layer) const { return links_[layer].hypotheses; }

  /// The top layer's X [seq_length, batch_size, input_size] with this hypothesis, of whichever layer it is,
  /// applied to each layer below, or to the one. nullptr where one does not know it, or its sizes do not fit
  /// any more.
  Array X_with(const Hypothesis& hypothesis, std::optional<std::size_t> only, Budget& budget) const;

 private:
  struct Link {
    const Below* below;
    const Subject* above;
    std::vector<Hypothesis> hypotheses;
  };
  std::vector<Link> links_;  // the lowest first
};

}  // namespace grurun::trial::diagnosis
