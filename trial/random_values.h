// Random values for inputs that no file gives.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "trial/data_set.h"

namespace grurun::trial {

/// A range of values, both ends included for integers; name is empty when it is meant for all inputs. Every
/// integer of 64 bits is kept as it was written.
struct NamedRange {
  std::string name;
  long double low;
  long double high;
};
static_assert(std::numeric_limits<long double>::digits >= 64);

struct RandomSettings {
  std::uint64_t seed = 0;
  std::vector<NamedRange> ranges;  // the one with a name wins
  std::map<std::string, Shape> shapes;
  std::map<std::string, std::int64_t> dimensions;

  /// What the one who gives these calls them, for errors: flags, arguments of a function.
  struct Names {
    std::string inputs = "inputs", ranges = "ranges", shapes = "shapes", dimensions = "dimensions";
  } names = {};
};

/// Throws Error(usage) for a name that no dimension of an input has; `called`: what gives the sizes.
void require_dimensions(const std::map<std::string, std::int64_t>& sizes, const std::vector<Slot>& inputs,
                        const std::string& called);

/// Fills every empty values[i] whose slot has no initializer. Shapes come from, in this order:
/// settings.shapes, the declared numbers, settings.dimensions, and the sizes that the given values and shapes
/// lend to a dimension's name.
///
/// Elements are uniform: floats in [-1, 1], 8-bit integers and narrower over their whole range, wider ones in
/// [0, 1] since they mostly are indices, bool both, strings of 1 to 8 letters; a range given for the
/// input, or for all (but bool and strings), replaces its type's as far as the type goes. Where a node says
/// more, its rule is the range: sequence_lens of a recurrent node is in [1, seq_length] of its X, indices of
/// Gather are in [0, dim) of a constant data. Sequences get 2 items, maps 3, optionals always hold one.
///
/// The same seed gives an input the same value whatever the other inputs are. Returns a line for each
/// input filled: "X: tensor(float) [5,2,3], uniform in [-1, 1]".
///
/// Throws Error(usage) naming the input, the dimension and the setting for a size that nothing tells, for a
/// setting that names no input or one that is not filled, for a size or shape against a declared or given
/// one, and for a range with no value of the type.
std::vector<std::string> fill_random(const onnx_io::Graph& graph, const std::vector<Slot>& slots,
                                     const RandomSettings& settings, std::vector<Value>& values);

}  // namespace grurun::trial
