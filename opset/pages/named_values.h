// Which values the text of an operator's version lists for an attribute of strings, or for a number that
// names a choice.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// What an attribute may be from the version since on, until another row of it.
struct NamedValues {
  std::string_view domain;
  std::string_view op_type;
  std::string_view attribute;
  int since;
  std::string_view values;  // "NONE, LOWER, UPPER"; "0, 1"
};

std::span<const NamedValues> all_named_values();

/// What the table has for a version; empty: no list.
std::vector<std::string> named_values_of(std::string_view domain, std::string_view op_type,
                                         std::string_view attribute, int since_version);

/// "mode is 'wrap', but Pad-18 knows constant, reflect, edge; ...": the first string or number that a node of
/// this since_version has and its text does not list; nullopt for nothing. Left out are attributes that refer
/// to a function's, and those of GRU, LSTM and RNN, which have rules of their own. An empty auto_pad is
/// NOTSET.
std::optional<std::string> named_value_fault(const onnx_io::Node& node, int since_version);

}  // namespace grurun::opset
