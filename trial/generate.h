// Data sets of a model: random inputs of one or several sizes, and what the model makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "trial/data_set.h"
#include "trial/random_values.h"
#include "trial/submodel.h"

namespace grurun::trial {

struct GenerateOptions {
  RandomSettings random;  // without sizes
  /// Of named dimensions. Each combination is a data set, or several.
  std::map<std::string, std::vector<std::int64_t>> sizes;
  bool sweep = false;    // instead, each dimension takes several sizes while the others keep their first
  int sets = 1;          // of each combination, with other seeds
  bool precise = false;  // expected is what the model makes in double, rounded to its types
};

struct GeneratedSet {
  std::string name;  // "test_data_set_0"
  std::map<std::string, std::int64_t> sizes;
  std::uint64_t seed = 0;
  std::vector<std::string>
      inputs{};  // a line for each that was drawn: "X: tensor(float) [5,2,3], uniform in [-1, 1]"
};

/// A size that a dimension cannot have though its name says that it can.
struct FrozenSize {
  std::string dimension;
  std::int64_t size = 0;
  std::string node;      // "node 'reshape_1' (Reshape-14)"; empty: not found
  std::string constant;  // "'shape', int64 [2] of 1, 12": which of its inputs; empty: not found
  std::string message;   // what goes wrong
};

struct Generated {
  std::vector<GeneratedSet> sets;
  std::vector<FrozenSize> frozen;
};

/// The names of dimensions of inputs that no number tells, each once.
std::vector<std::string> open_dimensions(const onnx_io::Graph& graph);

/// Sizes of all dimensions, one combination after another: first of each list, then each dimension's others
/// while the rest keep their first. Of a dimension without a list they are 2, 1, 3 and 5.
std::vector<std::map<std::string, std::int64_t>> swept_sizes(
    const std::vector<std::string>& dimensions,
    const std::map<std::string, std::vector<std::int64_t>>& lists);

/// Makes data sets and hands each to `write`, under its name. given: by graph input, the values that are not
/// drawn. A size at which the model does not run makes no data set. Throws Error(usage) for a size that
/// nothing tells, and what a run throws where the model runs at no size.
Generated generate(const onnx_io::Model& model, const std::vector<Value>& given,
                   const GenerateOptions& options, const std::function<void(const DataSet&)>& write);

/// Which constant keeps a model from a size: where a run on these inputs ends, or, where it does not, behind
/// an output, the nearest node that reads a constant shape.
void find_freezing(const onnx_io::Model& model, const std::vector<Value>& inputs, const std::string& output,
                   std::uint64_t seed, FrozenSize& out);

}  // namespace grurun::trial
