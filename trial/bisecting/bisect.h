// Which node of a model is the first to go wrong against the values of a reference, and where error is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"
#include "onnx_io/models/node_origin.h"
#include "tensor/value.h"
#include "trial/compare.h"
#include "trial/diagnosis/explanation.h"
#include "trial/pairing.h"
#include "trial/tolerance.h"
#include "trial/trial.h"
#include "trial/value_store.h"

namespace grurun::trial {

/// What is known of the node that makes a value.
struct NodeDetails {
  onnx_io::Origin origin;
  std::vector<std::string> attributes;  // "epsilon = 0.3"
  std::vector<std::string> inputs;      // "summed: tensor(float) [3,8]"
  std::vector<Explanation> reasons;     // of recurrent nodes
};

/// A value beside the one that the reference has for it.
struct ValueDifference {
  std::size_t node = 0;  // its place among the nodes of the main graph, or that of the one with its body
  std::string label;     // of the node; of an input of a body: "input of a body of node ..."
  std::string value;     // "h", "loop/3/h"
  std::string partner;   // its name in the reference
  Comparison in_run;     // the nodes before it fed by the run's own values
  /// The node alone, fed by the reference's values. nullopt: not_alone says why it was not run so.
  std::optional<Comparison> alone;
  std::string not_alone;
  /// Where it was run alone and more than equal numbers were asked for: how many times as far as rounding
  /// explains it differs there (times_rounding).
  std::optional<double> times_rounding{};
  bool is_live = true;  // an output of the model depends on it
  /// Labels of the nodes that were run with it, since the reference has no values of theirs.
  std::vector<std::string> with{};
  NodeDetails details{};  // of one that is made here

  /// Alone it differs by no more than rounding explains.
  bool is_rounding() const { return alone && !alone->ok && times_rounding && *times_rounding <= 1; }
  /// The node itself does not do what the reference does; another only passes on what it was given.
  bool is_made_here() const { return alone && !alone->ok && !is_rounding(); }
};

/// How far off a value is, by all its elements: the root of the energy of the error by that of what is
/// expected. Infinite where kinds or shapes differ, or numbers are finite on one side only.
double relative_error(const Comparison& comparison);

/// What the differences of a model come to.
enum class Conclusion : std::uint8_t {
  nothing,      // there are none
  unread,       // of values only that no output depends on
  at_outputs,   // none at the outputs, and no node makes one by itself: it is the sum of small errors
  rounding,     // at outputs, too; but what each node adds by itself, rounding explains
  gathered,     // at outputs; no node makes one by itself, but some add more than rounding
  unexplained,  // at outputs; no node makes one by itself, and not each could be run alone
  made,         // a node makes one by itself
};

struct Bisection {
  std::string reference;         // what it is, for people
  std::int64_t compared = 0;     // values
  std::int64_t absent = 0;       // values of which the reference says nothing
  std::size_t by_structure = 0;  // of those compared: paired by structure, and by numbers
  std::size_t by_numbers = 0;
  Conclusion conclusion = Conclusion::nothing;
  /// In the order of the nodes; those that no output depends on are the last.
  std::vector<ValueDifference> differences;
  /// Every value that was run alone, the one of the largest relative error first; empty where it was not
  /// asked for. Of Conclusion::gathered, those that add more than rounding.
  std::vector<ValueDifference> ranking;
  std::vector<ValueDifference>
      along;  // every value that was compared, in the order of the nodes, in the run only

  bool differs() const { return conclusion >= Conclusion::gathered; }
};

struct BisectOptions {
  Tolerances tolerances;
  Rerun rerun;
  bool all = false;   // every difference is looked at alone; else those up to the first that is made there
  bool rank = false;  // all nodes are run alone
  /// What rounding explains is no difference. Not where the tolerance is somebody's own choice.
  bool allow_rounding() const { return !tolerances.flag.rtol && !tolerances.flag.atol; }
};

struct Reference {
  ValueStore values;
  std::optional<Pairing> pairing{};  // nullopt: values have the names that they have in the model
};

/// Compares each value, those in bodies too, with the one of the reference. Values of another floating type
/// are compared in double, and narrowed to the model's type to feed a node; quantized ones (Quantizations)
/// are compared as the floats that they stand for, and made of these to feed a node. inputs[i] belongs to
/// graph.inputs[i]. Throws Error(usage) where no value of the reference is one of the model's, and what a run
/// throws.
Bisection bisect(const onnx_io::Model& model, const std::vector<Value>& inputs, Reference& reference,
                 const BisectOptions& options);

/// What another model makes of the same inputs (inputs_for), paired with the model's values. They lie in
/// files below the folder `scratch`. Throws what a run throws.
Reference reference_of(const onnx_io::Model& model, const std::vector<Value>& inputs,
                       const onnx_io::Model& other, const Rerun& rerun, const std::string& scratch);

/// What the model makes in double.
Reference precise_reference_of(const onnx_io::Model& model, const std::vector<Value>& inputs,
                               const Rerun& rerun, const std::string& scratch);

}  // namespace grurun::trial
