// Operators that draw their outputs at random.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// True for an operator of ai.onnx whose every run draws other values. Dropout, which only draws while it
/// trains, is none.
inline bool always_draws(const onnx_io::Node& node) {
  constexpr std::array<std::string_view, 6> types = {
      "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  return node.domain.empty() && std::ranges::find(types, node.op_type) != types.end();
}

}  // namespace grurun::opset
