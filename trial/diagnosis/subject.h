// The recurrent nodes of a model, as layers with the inputs they had in a run.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/diagnosis/capture.h"
#include "trial/diagnosis/layer.h"
#include "trial/precise.h"
#include "trial/trial.h"

namespace grurun::trial::diagnosis {

/// After which step a final state is read.
enum class FinalAt {
  last_step,        // as the standard has it: of a backward direction at each row's first time
  last_valid_time,  // of a backward direction, too: after its first step
  last_time,        // as Y holds it at the end of time: 0 for shorter rows
  first_time,       // of a forward direction, too: after its first step
};

/// Where an output of a node comes out of the graph, and how it is turned around on the way: the other
/// operators between them (Identity, Reshape, Squeeze, Unsqueeze, Flatten) leave elements in their order.
struct GraphOutput {
  std::size_t graph_output;
  struct Turn {
    Shape before;
    std::vector<std::int64_t> perm;
  };
  std::vector<Turn> turns;  // from the node to the graph's output
  bool direct = true;       // nothing lies between
  /// Where more lies between: which element of `source_shape` each element of the graph's output is.
  std::vector<std::int64_t> elements = {};
  Shape source_shape = {};
};

struct Below;

/// A recurrent node of the main graph after a run.
struct Subject {
  const onnx_io::Node* node = nullptr;  // of the model that find_subjects was given
  std::string label;                    // "node 'gru_1' (GRU-14)"
  std::string name;                     // of the node; of its first output where it has none
  bool from_openvino_ir = false;        // W, R and B stand in the file as LSTMSequence has them: f, i, c, o
  Layer layer;
  int layout = 0;
  DType dtype = DType::undefined;
  // As the node states them; empty: left out.
  std::vector<std::string> activations;
  std::vector<float> alpha, beta;
  bool has_sequence_lens = false;
  std::array<std::optional<GraphOutput>, 3> graph_outputs;  // Y, Y_h, Y_c
  FinalAt Y_h_at = FinalAt::last_step;           // Y_h is Y at one time, which Slice or Gather picks
  std::shared_ptr<const Below> below;            // X is the Y of that node, turned around at most
  std::shared_ptr<const Layer> other_direction;  // of a node with two, of which this is the one that is seen
  std::string fed_by;                            // label of a recurrent node on which X depends; empty: none
};

/// The node whose Y is another one's X, and what turns it around between them.
struct Below {
  Subject subject;
  std::vector<GraphOutput::Turn> turns;
};

/// Every GRU, LSTM and RNN of the main graph, in their order, and behind them those with two directions of
/// which one alone comes out, as layers of that one; those in functions and branches are seen where these are
/// written out. Runs the model once more for the values that go into them. Throws what a run throws.
std::vector<Subject> find_subjects(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                   const Rerun& rerun);

/// Fills in what the node states, in the layer and beside it, from the values of its inputs by name; the op
/// and the label must be there. Throws Error(limit) for too many elements.
void read_layer(const onnx_io::Node& node, const Values& values, Subject& subject);

/// The reverse of doubles_of, rounded once.
Tensor rounded(const std::vector<double>& values, const Shape& shape, DType dtype);

}  // namespace grurun::trial::diagnosis
