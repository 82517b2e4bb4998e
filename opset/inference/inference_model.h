// A light copy of a model for ONNX's shape inference, which writes into what it is given: weights left out,
// domains spelt one way, nodes numbered so that its messages can be traced back.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/onnx_pb.h"
#include "opset/findings/check_report.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

/// Values of the main graph that are made of constants, by name.
using ComputedProtos = std::map<std::string, onnx::TensorProto>;

struct InferenceNode {
  const CheckScope* scope;
  const onnx::NodeProto* original;
  std::size_t index;
  std::optional<int> since_version = std::nullopt;
  bool recurrent = false;  // GRU, RNN or LSTM of the standard: judged by rules of its own, faulty or not
  bool faulty = false;     // recurrent ones only: what its outputs are is not known
  /// Recurrent ones only: values that ONNX's inference does not know, by the name of the input: constants of
  /// the graphs around a body, and computed ones.
  std::map<std::string, const onnx::TensorProto*> constants{};
  /// Recurrent ones of the main graph only: inputs that no element of the model's inputs reaches.
  std::set<std::string> input_free{};
  std::optional<std::size_t> holder = std::nullopt;  // the number of the node whose subgraph it stands in
  bool holds_opaque =
      false;  // a node of its subgraphs is not judged or at fault: outputs of these may have no type

  std::string path() const;
  std::string op() const;
  NodeLabel label() const { return {node_key(*scope, index), path(), op()}; }
};

struct InferenceModel {
  onnx::ModelProto proto;
  std::vector<InferenceNode> nodes;
  std::deque<CheckScope> scopes;  // those that nodes point to
};

/// Names whose declared types are not what the nodes make, each with its graph in the original.
using WrongDeclarations = std::set<std::pair<const onnx::GraphProto*, std::string_view>>;

/// Faulty nodes of the report, but for recurrent ones, become operators of a domain that nobody knows:
/// inference goes around them. Without declared types only those of the main graph's inputs are kept, with
/// them all but the wrong ones. original and computed must outlive the result.
InferenceModel make_inference_model(const onnx::ModelProto& original, const CheckReport& report,
                                    bool keep_declared, const ComputedProtos& computed,
                                    const WrongDeclarations& wrong = {});

/// The number of the node whose name in the copy occurs last in the text, and where the text goes on behind
/// it.
struct NodeMention {
  std::size_t node;
  std::size_t end;
};
std::optional<NodeMention> last_node_mention(std::string_view text, const InferenceModel& model);

}  // namespace grurun::opset
