// Outputs that are elements of a recurrent node's output, picked and put together by other operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trial/diagnosis/capture.h"
#include "trial/diagnosis/paths_to_output.h"

namespace grurun::trial::diagnosis {

/// What lies between a value and one output of one recurrent node: Slice, Gather, Split and Concat, besides
/// what a way back goes through.
struct ElementSource {
  const onnx_io::Node* from;
  std::size_t output;
  std::vector<const onnx_io::Node*> between;  // in the graph's order
  std::vector<std::string> needed;            // values to be captured: axes, indices, and the node's output
};

/// nullopt where other operators lie between, or other nodes' outputs come in.
std::optional<ElementSource> find_element_source(const onnx_io::Graph& graph,
                                                 const onnx_io::Producers& producers,
                                                 const std::string& value);

/// Which element of the node's output each element of the value is; nullopt where that cannot be told, or not
/// in time.
std::optional<std::vector<std::int64_t>> source_elements(const onnx_io::Model& model,
                                                         const ElementSource& path, const std::string& value,
                                                         const Values& values, const Rerun& rerun);

}  // namespace grurun::trial::diagnosis
