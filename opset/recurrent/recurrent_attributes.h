// The attributes of RNN, GRU and LSTM, held against the text of the node's version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/recurrent/recurrent_rules.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

/// What a node says, defaults filled in. Where an attribute is at fault or refers to one of a function's
/// caller, what follows from it is unknown.
struct RecurrentAttributes {
  std::optional<std::string> direction = "forward";
  std::optional<std::int64_t> layout = 0;
  std::optional<std::int64_t> hidden_size;
  bool hidden_size_known = true;         // false: given, but not known
  std::vector<std::string> activations;  // of all directions; empty where unknown
  std::optional<float> clip;
  std::optional<bool> linear_before_reset = false;  // GRU
  std::optional<bool> input_forget = false;         // LSTM
  std::optional<std::int64_t> output_sequence;      // before version 7

  std::optional<std::int64_t> num_directions() const;
};

/// Reports unknown, mistyped and repeated attributes, and values that the version does not allow. Never
/// throws.
RecurrentAttributes read_recurrent_attributes(const RecurrentForm& form, const SchemaInfo& schema,
                                              const std::vector<onnx_io::Attribute>& attributes,
                                              RecurrentFindings& findings);

}  // namespace grurun::opset
