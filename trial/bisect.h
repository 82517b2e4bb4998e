// Which node of a model is the first to go wrong: against the values of a reference, or by making a number
// that none of its inputs holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/compare.h"
#include "trial/intermediates.h"
#include "trial/tolerance.h"

namespace grurun::trial {

/// A value that is not what the reference says.
struct ValueDifference {
  std::size_t node = 0;  // its place among the nodes of the graph
  std::string label;     // of the node
  std::string value;
  Comparison in_run;  // the nodes before it fed by the run's own values
  /// The node alone, fed by the reference's values. nullopt: not_alone says why it was not run so.
  std::optional<Comparison> alone;
  std::string not_alone;

  /// The node itself does not do what the reference does; another only hands on what it was given.
  bool is_made_here() const { return alone && !alone->ok; }
};

struct Bisection {
  std::string reference;                     // what it is, for people
  std::int64_t compared = 0;                 // values
  std::int64_t absent = 0;                   // values of which the reference says nothing
  std::vector<ValueDifference> differences;  // in the order of the nodes
};

struct BisectOptions {
  Tolerances tolerances;
  Rerun rerun;
  bool all = false;  // every difference is looked at alone; else those up to the first that is made there
};

/// Compares each value of the main graph with the one of that name in the reference. Values of another
/// floating type are compared in double, and narrowed to the model's type to feed a node. inputs[i] belongs
/// to graph.inputs[i]. Throws Error(usage) where no value of the reference is one of the model's, and what a
/// run throws.
Bisection bisect(const onnx_io::Model& model, const std::vector<Value>& inputs, const ValuesByName& reference,
                 const BisectOptions& options);

/// A value as an input of that type takes it: a floating tensor converted to another floating element type.
Value as_declared(const Value& value, const ValueType& type);

/// What numbers are looked for.
enum class Oddity : std::uint8_t { nan, inf, overflow_float16, denormal };

/// What a node was given, where an oddity was found.
struct OddityInput {
  std::string name;
  std::string type;      // "tensor(float) [2,3]"
  std::string range;     // "from -3 to 7", of the finite elements; empty: none
  std::string at_place;  // its element at the oddity's place, where it has that shape; else empty
};

struct FoundOddity {
  std::string label, value;
  std::string type;                 // of the value
  std::int64_t count = 0;           // elements that are odd
  std::vector<std::int64_t> index;  // of the first
  std::string element;
  std::vector<OddityInput> inputs;
};

/// The first node that makes such a number from inputs that hold none. nullopt: there is none.
std::optional<FoundOddity> find_oddity(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                       Oddity oddity, const Rerun& rerun);

}  // namespace grurun::trial
