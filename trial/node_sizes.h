// Shapes that the inputs of a node may have, by the page of its operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/shape.h"

namespace grurun::trial {

/// By input: nullopt leaves it out where that is allowed, or to the one who asks.
using InputShapes = std::vector<std::optional<Shape>>;

/// Choices, the most likely first. fixed: by input, shapes that are given. The node has its attributes, and
/// as many inputs as fixed has.
std::vector<InputShapes> likely_shapes(const onnx_io::Node& node, int since_version,
                                       const InputShapes& fixed);

}  // namespace grurun::trial
