// A model made ready to run: steps in order over numbered slots, constants prepared, lifetimes known.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/graph/body_judge.h"
#include "engine/graph/op_context.h"
#include "engine/graph/op_registry.h"
#include "onnx_io/models/model.h"
#include "opset/schema/signature.h"
#include "tensor/value.h"

namespace grurun::engine {

inline constexpr int no_slot = -1;

/// What the schema and the kernel admit for one input.
struct InputRule {
  const opset::ParameterTypes* schema = nullptr;  // nullptr: anything
  DTypeSet kernel = DTypeSet::all();  // element types of tensors that the kernel takes, of those admitted
  std::size_t first = 0;  // the first input that must have the same element type: itself, if none before
  const char* name = "";  // the parameter's name in the schema
};

/// That an input is a tensor of one of these types, and of that of input same_as.
struct TypeCheck {
  std::size_t input;
  DTypeSet types;
  std::size_t same_as;
};

/// One node, prepared. Slots index the frame of the plan it belongs to.
struct Step {
  std::string label;      // "node 'gru_1' (GRU-14)", for errors
  std::string op;         // "GRU-14"
  std::string called_by;  // label of the operator whose body the step is of; empty outside such
  // Of that operator, at the first step of its body, or of a kernel that leaves it to the page to judge.
  std::shared_ptr<const BodyJudge> judge;
  // For judges: its attributes resolved, its type and domain. nullptr: of no operator that the standard has.
  std::shared_ptr<const onnx_io::Node> node;
  int since_version = 0;
  RunFunction run;
  std::vector<int> inputs;     // no_slot: omitted
  std::vector<int> outputs;    // no_slot: nobody wants it
  std::vector<int> last_used;  // slots released after this step
  std::vector<std::string> output_names;
  std::vector<InputRule> input_rules;  // by input; may be shorter: the rest is not restricted
  // Inputs that are no constants and pass these obey all the rules; others still may.
  std::vector<TypeCheck> type_checks;
  // By output, the last repeats; only of nodes with bodies, which decide what they return.
  std::span<const opset::SignatureOutput> output_rules;
};

struct Capture {
  std::string name;
  int outer;  // slot in the enclosing plan
  int inner;  // slot here
};

/// A frame of a plan that runs within steps of others, kept from run to run so that its constants need not be
/// put in place each time. One of them: runs side by side make their own.
class KeptFrame {
 public:
  struct Frame {
    Values values;
    std::vector<int> changing;  // slots that hold no constant; empty between runs
  };

  KeptFrame() = default;
  KeptFrame(KeptFrame&& other) noexcept : frame_(other.frame_.exchange(nullptr)) {}
  ~KeptFrame() { delete frame_.load(); }

  std::unique_ptr<Frame> take() const { return std::unique_ptr<Frame>(frame_.exchange(nullptr)); }
  void keep(std::unique_ptr<Frame> frame) const { delete frame_.exchange(frame.release()); }

 private:
  mutable std::atomic<Frame*> frame_ = nullptr;
};

struct Plan {
  std::string name;
  int slot_count = 0;
  std::vector<Step> steps;
  std::vector<std::pair<int, Value>> constants;
  std::vector<int> inputs;  // slot of each graph input
  std::vector<std::string> input_names;
  std::vector<ValueType> input_types;
  std::vector<int> outputs;  // slot of each graph output; no_slot: a function body that does not make it
  std::vector<std::string> output_names;
  std::vector<ValueType> output_types;
  std::vector<Capture> captures;  // values of enclosing scopes, subgraphs only
  KeptFrame kept_frame;           // subgraphs and functions
};

struct PlanOptions {
  /// Names of graph inputs that will be fed: an initializer of the same name is overridden and no constant.
  std::unordered_set<std::string> fed;
  /// Nodes that expansion of functions may make at most; Error(limit) beyond.
  std::int64_t max_nodes = 1'000'000;
  /// Depth of nested functions and subgraphs.
  int max_depth = 64;
  /// Nodes of the main graph whose schema has a function body run through it although there is a kernel: the
  /// body is a second opinion on the kernel.
  bool prefer_function_bodies = false;
  /// Steps that follow each other may become one (fusion.h), and those of constants are computed now
  /// (constant_folding.h). Results stay the same, but a run is not observed between them.
  bool fuse = true;
  /// Bytes that such constants may take in all beyond what they are made of: room for the converted weights
  /// of 8-bit networks for images, but not for those of large language models. Together with those that they
  /// are made of on the way, they take at most this and twice the model's constants.
  std::size_t most_folded_growth = std::size_t{256} << 20;
};

/// Names of the graph's inputs that have a value: inputs[i] is that of the i-th.
std::unordered_set<std::string> fed_names(const onnx_io::Graph& graph, std::span<const Value> inputs);

/// Plans the model's main graph: versions resolved exactly, model-local functions and schema function bodies
/// inlined, subgraphs planned within their scope, operators prepared. Throws Error(unsupported) naming
/// operator and version without a kernel, Error(invalid_model) for a graph that breaks the rules.
std::shared_ptr<const Plan> make_plan(const onnx_io::Model& model, const PlanOptions& options = {});

/// Plans a function as a graph of its own: inputs and outputs are the function's, attributes those of the
/// calling node. present[i] is false for an input that the caller omits; its slot stays empty. Operators are
/// those of the standard; model-local functions are not seen.
std::shared_ptr<const Plan> make_function_plan(const onnx_io::Function& function,
                                               const std::vector<onnx_io::Attribute>& attributes,
                                               const std::vector<bool>& present, const PlanOptions& options);

}  // namespace grurun::engine
