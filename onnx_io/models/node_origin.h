// What exporters write at a node about where it comes from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

using Origin = std::vector<std::pair<std::string, std::string>>;  // keys and notes

/// Of the node that makes the value, in the main graph or else in a body: the metadata_props
/// pkg.torch.onnx.stack_trace, .name_scopes and .fx_node, and "doc_string", those that there are, without
/// blanks around them. None for a model that was not read from ONNX's message.
Origin origin_of(const Model& model, const std::string& value);

/// The same of every node of the main graph, in their order.
std::vector<Origin> origins_of(const Model& model);

}  // namespace grurun::onnx_io
