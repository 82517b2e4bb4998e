// Forms that the standard forbids, that published exporters write, that every runtime runs and that can mean
// one thing only. They are taken for what they mean, with a warning; with --strict they are errors. A form
// that could mean two things is not one of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opset/findings/finding.h"
#include "opset/findings/rules.h"
#include "opset/pages/node_facts.h"

namespace grurun::opset {

struct Form {
  Rule rule;  // the code
  const char* form;
  const char* writers;
  const char* sentence;           // of the standard, that it breaks
  const char* value;              // what it is taken for
  const char* domain = nullptr;   // of the operator that it is a form of; nullptr: of none
  const char* op_type = nullptr;  // with * at one end that of several
  /// What was found of the form in a node, whatever its inputs are, and in what is known of the inputs; ""
  /// for nothing. nullptr: the form does not show there.
  std::string (*in_node)(const NodeFacts& facts) = nullptr;
  std::string (*in_inputs)(const NodeFacts& facts) = nullptr;
};

/// By code.
std::span<const Form> all_forms();

struct FormFound {
  Rule rule;
  std::string message;
};

/// Whether there are forms of the node's operator.
bool may_have_form(const onnx_io::Node& node);

std::vector<FormFound> forms_in_node(const NodeFacts& facts);
std::vector<FormFound> forms_in_inputs(const NodeFacts& facts);

/// The message about a graph's input that is declared to be a scalar and given elements of this shape.
std::string declared_scalar_message(const std::string& input, const std::string& shape);

/// Whether the attribute, which the version may not have, is left unread by a row of the table.
bool is_left_unread(const onnx_io::Node& node, const onnx_io::Attribute& attribute, int since_version);

/// The rows, for docs/rules.md.
std::string forms_markdown();

}  // namespace grurun::opset
