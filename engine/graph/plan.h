// A model made ready to run: steps in order over numbered slots, constants prepared, lifetimes known.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/graph/op_registry.h"
#include "onnx_io/model.h"
#include "tensor/value.h"

namespace grurun::engine {

inline constexpr int no_slot = -1;

/// One node, prepared. Slots index the frame of the plan it belongs to.
struct Step {
  std::string label;  // "node 'gru_1' (GRU-14)", for errors
  std::string op;     // "GRU-14"
  RunFunction run;
  std::vector<int> inputs;            // no_slot: omitted
  std::vector<int> outputs;           // no_slot: nobody wants it
  std::vector<int> last_used;         // slots released after this step
  std::vector<DTypeSet> input_types;  // what the kernel takes, by input; empty set: anything
  std::uint64_t seed = 0;
};

struct Capture {
  std::string name;
  int outer;  // slot in the enclosing plan
  int inner;  // slot here
};

struct Plan {
  std::string name;
  int slot_count = 0;
  std::vector<Step> steps;
  std::vector<std::pair<int, Value>> constants;
  std::vector<int> inputs;  // slot of each graph input
  std::vector<std::string> input_names;
  std::vector<ValueType> input_types;
  std::vector<int> outputs;  // slot of each graph output
  std::vector<std::string> output_names;
  std::vector<ValueType> output_types;
  std::vector<Capture> captures;  // values of enclosing scopes, subgraphs only
};

struct PlanOptions {
  /// Names of graph inputs that will be fed: an initializer of the same name is overridden and no constant.
  std::unordered_set<std::string> fed;
  /// Nodes that expansion of functions may make at most; Error(limit) beyond.
  std::int64_t max_nodes = 1'000'000;
  /// Depth of nested functions and subgraphs.
  int max_depth = 64;
};

/// Plans the model's main graph: versions resolved exactly, model-local functions and schema function bodies
/// inlined, subgraphs planned within their scope, operators prepared. Throws Error(unsupported) naming
/// operator and version without a kernel, Error(invalid_model) for a graph that breaks the rules.
std::shared_ptr<const Plan> make_plan(const onnx_io::Model& model, const PlanOptions& options = {});

}  // namespace grurun::engine
