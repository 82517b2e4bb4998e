// A GRU, RNN or LSTM node as it stands in a graph: attributes, numbers of inputs and outputs, and what is
// allowed but probably a mistake.
#pragma once

#include "opset/findings/check_report.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

/// What can be told without types; an error marks the node as faulty. made_here: nobody can change the
/// attributes, so that nothing is told of a layout that other runtimes lack.
void check_recurrent_node(const NodeAt& at, const RecurrentForm& form, const SchemaInfo& schema,
                          CheckReport& report, bool made_here);

/// A layer of an added schema (find_layer_form), which has been held against it: values of attributes, by the
/// text of the form.
void check_added_layer(const NodeAt& at, const RecurrentForm& form, const SchemaInfo& schema,
                       CheckReport& report);

}  // namespace grurun::opset
