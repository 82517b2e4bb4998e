// Parts of a model as models of their own: some nodes of its main graph, fed with values that are known.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial {

/// Values of a run, by name.
using KnownValues = std::unordered_map<std::string, Value>;

/// A model, what it is fed and what it is to make.
struct Submodel {
  onnx_io::Model model;
  std::vector<Value> inputs;    // by graph input
  std::vector<Value> expected;  // by graph output; an empty Value where nothing is known of it
  std::size_t unknown = 0;      // inputs of which no value is known: it cannot be run then
};

/// Takes nodes of one main graph out of it. What it is made of must outlive it.
class Extraction {
 public:
  /// known: values of the run by name, those that are fed among them. What is fed takes the place of an
  /// initializer.
  Extraction(const onnx_io::Model& model, const KnownValues& fed, const KnownValues& known);

  /// A model of the nodes for which keep holds, in their order, with the Constant nodes and initializers that
  /// they read. What nodes left out make and these read becomes an input, or an initializer where no fed
  /// value reaches it. Its outputs are the values that others read, or the whole model returns; of these
  /// only those of `outputs`, where it names any, with the nodes that they need.
  Submodel take(const std::vector<bool>& keep, const std::set<std::string>& outputs = {}) const;

  /// Whether no fed value reaches it.
  bool is_constant_value(const std::string& name) const;

 private:
  void add_read(const std::string& name, const std::vector<bool>& keep, std::set<std::string>& done,
                Submodel& out) const;
  bool is_returned(const std::string& name, const std::vector<bool>& keep) const;

  const onnx_io::Model& model_;
  const KnownValues& fed_;
  const KnownValues& known_;
  onnx_io::InitializerIndex initializers_;
  std::unordered_map<std::string, std::size_t> makers_;
  std::unordered_map<std::string, std::vector<std::size_t>> readers_;
  std::set<std::string> returned_;
  std::set<std::string> reached_;  // values that a fed one reaches
};

/// The model without functions that no node calls.
void drop_unused_functions(onnx_io::Model& model);

/// What the nodes of the main graph make, in memory all at once. Throws what a run throws.
KnownValues values_of(const onnx_io::Model& model, const std::vector<Value>& inputs, const Rerun& rerun);

/// The same, as far as they can be made: nodes that fail, and what comes behind them, have none.
KnownValues values_as_far(const onnx_io::Model& model, const std::vector<Value>& inputs, const Rerun& rerun);

/// Those that are fed, by name.
KnownValues fed_values(const onnx_io::Graph& graph, const std::vector<Value>& inputs);

}  // namespace grurun::trial
