// What the nodes that read an input say about the values it may have.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"
#include "trial/random_tensor.h"

namespace grurun::trial {

/// The rules of a graph, found once for all of its inputs. It refers to the graph, which must outlive it.
class InputRules {
 public:
  explicit InputRules(const onnx_io::Graph& graph);

  /// The range that every node of the main graph reading this input admits, or nullopt when none restricts
  /// it: sequence_lens of GRU, LSTM and RNN is in [1, seq_length], indices of Gather and GatherElements are
  /// in [0, dim - 1]. shapes holds the shapes of inputs known so far; initializers' are looked up.
  std::optional<Range> range_of(const std::string& input, const std::map<std::string, Shape>& shapes) const;

 private:
  // The size of an axis of `data` limits what a node takes the values of an input for.
  struct Use {
    std::string data;
    std::int64_t axis, lowest;
  };

  std::optional<Shape> shape_of(const std::string& name, const std::map<std::string, Shape>& shapes) const;

  onnx_io::InitializerIndex initializers_;
  std::unordered_map<std::string, std::vector<Use>> uses_;  // by input
};

}  // namespace grurun::trial
