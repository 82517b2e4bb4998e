// What an export lost, inferred from the expected outputs: no list can hold a bias or a state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trial/diagnosis/expected.h"
#include "trial/diagnosis/subject.h"

namespace grurun::trial::diagnosis {

struct Inference {
  std::string id;
  std::string text;             // follows "reproduced with"
  Candidate candidate;          // reproduces what is expected
  std::int64_t fitted = 0;      // numbers that were chosen to that end
  bool structure_only = false;  // as many equations as numbers: it would always fit
};

/// Inferences that make this candidate reproduce what is expected, the likely first; stops at the first that
/// does. Tried are a clip, the lengths behind final states, a missing bias or half of it, the parameters of
/// each place's activation, and initial states.
std::vector<Inference> infer(const Subject& subject, const Expected& expected, const Candidate& candidate,
                             Budget& budget);

}  // namespace grurun::trial::diagnosis
