// How often a Loop's body runs, as far as constants and counters tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "onnx_io/models/model.h"
#include "opset/pages/graph_view.h"

namespace grurun::opset {

struct LoopParts {
  const onnx_io::Node& node;
  const onnx_io::Graph& body;
  const GraphView& outer;  // the graph that the node is in
  const GraphView& inner;  // the body
};

struct LoopSteps {
  std::optional<std::int64_t> most;  // nullopt: not known
  bool exact = false;                // no condition ends it earlier

  std::optional<std::int64_t> count() const { return exact ? most : std::nullopt; }
};

/// From M and the conditions: the one that goes in and the one that comes out of the body, where they are
/// constants, handed on, or compare a counter with a constant.
LoopSteps loop_steps(const LoopParts& loop);

/// What a value of the body is in the first iteration, where it is one more in each of the next: the
/// iteration's number, or a state that the body adds 1 to.
std::optional<std::int64_t> counter_begin(const LoopParts& loop, const std::string& name);

}  // namespace grurun::opset
