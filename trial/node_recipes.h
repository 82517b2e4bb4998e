// What a node needs that neither its schema nor its page tells: sizes and numbers for the example of an
// operator.
#pragma once

#include <string_view>

namespace grurun::trial {

struct NodeRecipe {
  std::string_view op_type;
  std::string_view attributes = {};  // "kernel_shape=2,2 mode=sum"
  std::string_view shapes = {};      // "X:[2,3] scale:[3]"
  std::string_view values = {};      // "axes=0 K=2"
  std::string_view ranges = {};      // "var:0.5:2"
  std::string_view types = {};       // "T=uint8"
  int outputs = 0;                   // 0: as many as can be
};

/// nullptr: none. Of ai.onnx and ai.onnx.ml.
const NodeRecipe* find_recipe(std::string_view op_type);

}  // namespace grurun::trial
