// What exporters are known to get wrong, each as a change to a layer that takes the mistake back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trial/diagnosis/expected.h"
#include "trial/diagnosis/subject.h"

namespace grurun::trial::diagnosis {

struct Hypothesis {
  std::string id;      // stable: "gate-order"
  std::string family;  // two of one family are not combined
  std::string text;    // "gates in r,z,h order: ...", follows "reproduced with"
  /// Makes the candidate what the source may have been; false where that says nothing.
  std::function<bool(Candidate&)> apply;
};

/// Everything that can be said of this subject without fitting numbers, the likely first. The functions refer
/// to subject and expected.
std::vector<Hypothesis> all_hypotheses(const Subject& subject, const Expected& expected);

/// Those about weights and biases again, each for one direction of a bidirectional layer alone; empty for
/// layers of one direction.
std::vector<Hypothesis> of_one_direction(const std::vector<Hypothesis>& of_both, const Layer& layer);

// The parts of it, one file each.
void add_weight_hypotheses(const Subject& subject, std::vector<Hypothesis>& into);
void add_bias_hypotheses(const Subject& subject, std::vector<Hypothesis>& into);
void add_sequence_hypotheses(const Subject& subject, std::vector<Hypothesis>& into);
void add_length_hypotheses(const Subject& subject, const Expected& expected, std::vector<Hypothesis>& into);
void add_function_hypotheses(const Subject& subject, std::vector<Hypothesis>& into);

/// "z,r,h" or another order of a layer's gates: order[k] is the gate that block k holds.
std::string gate_order_text(Op op, const std::vector<std::int64_t>& order);

/// "5, 3, 2": lengths of rows, the first few of many.
std::string lengths_text(const std::vector<std::int64_t>& lengths);

/// Whether the function takes a value of activation_alpha, or of activation_beta.
bool takes_alpha(ActivationKind kind);
bool takes_beta(ActivationKind kind);

/// "Sigmoid", "LeakyRelu(alpha 0.01)".
std::string function_text(const Activation& f);

}  // namespace grurun::trial::diagnosis
