// Shapes of RNN, GRU and LSTM: every input against every other and the attributes, and what the outputs are.
#pragma once

#include <optional>
#include <vector>

#include "opset/recurrent/recurrent_attributes.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/recurrent/recurrent_rules.h"
#include "tensor/tensor.h"
#include "tensor/value_type.h"

namespace grurun::opset {

/// What is known of one input before the model runs.
struct RecurrentInputInfo {
  bool given = false;                  // false: omitted
  std::optional<SymbolicShape> shape;  // nullopt: rank unknown
  const Tensor* value = nullptr;       // of a constant
  bool input_free = false;             // no element of the model's inputs reaches it
};

/// The sizes that inputs and attributes agree on; a Dim is unknown where nothing tells.
struct RecurrentSizes {
  Dim num_directions;
  Dim seq_length;
  Dim batch_size;
  Dim input_size;
  Dim hidden_size;
};

/// Reports every rank and dimension that contradicts another, and lengths out of range. inputs are in the
/// operator's order, trailing ones may be missing. hidden_size is what most of the inputs and the attribute
/// say.
RecurrentSizes check_recurrent_shapes(const RecurrentForm& form, const RecurrentAttributes& attributes,
                                      const std::vector<RecurrentInputInfo>& inputs,
                                      RecurrentFindings& findings);

/// nullopt where the layout is not known.
std::optional<SymbolicShape> recurrent_output_shape(std::size_t output, const RecurrentAttributes& attributes,
                                                    const RecurrentSizes& sizes);

}  // namespace grurun::opset
