// The best finished sequences of one prompt, for BeamSearch.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/ops/microsoft/generation.h"

namespace grurun::engine {

/// How beams of a prompt are scored and when their search ends.
struct BeamScoring {
  std::size_t beams = 1;
  float length_penalty = 1;
  bool early_stopping = false;

  /// sum / length ^ length_penalty
  float score(float sum, std::size_t length) const {
    return sum / std::pow(static_cast<float>(length), length_penalty);
  }
};

class BeamHypotheses {
 public:
  struct Finished {
    float score;
    Words words;
  };

  explicit BeamHypotheses(const BeamScoring& scoring) : scoring_(scoring) {}

  /// Keeps the sequence if it is among the best; sum: of its logarithmic probabilities.
  void add(const Words& words, float sum) {
    const float score = scoring_.score(sum, words.size());
    if (finished_.size() == scoring_.beams && !(score > finished_.back().score)) return;
    const auto behind = std::ranges::find_if(finished_, [&](const Finished& f) { return f.score < score; });
    finished_.insert(behind, {score, words});
    if (finished_.size() > scoring_.beams) finished_.pop_back();
  }

  /// That no sequence that still grows, the best of sum `best`, can become one of the best.
  bool complete(float best, std::size_t length) const {
    if (finished_.size() < scoring_.beams) return false;
    return scoring_.early_stopping || finished_.back().score >= scoring_.score(best, length);
  }

  /// The best one first.
  const std::vector<Finished>& finished() const { return finished_; }

 private:
  BeamScoring scoring_;
  std::vector<Finished> finished_;
};

}  // namespace grurun::engine
