#include "onnx_io/models/walk.h"

#include <algorithm>
#include <unordered_set>

namespace grurun::onnx_io {

bool has_body(const Node& node) {
  return std::ranges::any_of(node.attributes,
                             [](const Attribute& attribute) { return !attribute.graphs.empty(); });
}

std::vector<Read> reads_of(const Node& node) {
  std::vector<Read> reads;
  for (const std::string& input : node.inputs) {
    if (!input.empty()) reads.push_back({input, &node});
  }
  for_each_body(node, [&](const Graph& body, const Attribute&) {
    const std::vector<Read> outer = outer_reads(body);
    reads.insert(reads.end(), outer.begin(), outer.end());
  });
  return reads;
}

std::vector<Read> outer_reads(const Graph& body) {
  std::unordered_set<std::string_view> defined;
  for (const ValueInfo& input : body.inputs) defined.insert(input.name);
  for (const Initializer& initializer : body.initializers) defined.insert(initializer.name);
  for (const Node& node : body.nodes) defined.insert(node.outputs.begin(), node.outputs.end());
  std::vector<Read> outer;
  const auto read = [&](const Read& one) {
    if (!defined.contains(one.name)) outer.push_back(one);
  };
  for (const Node& node : body.nodes) std::ranges::for_each(reads_of(node), read);
  for (const ValueInfo& output : body.outputs) read({output.name, nullptr});
  return outer;
}

Producers::Producers(const std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<std::string>& outputs = nodes[i].outputs;
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      if (!outputs[output].empty()) by_name_.try_emplace(outputs[output], Producer{&nodes[i], i, output});
    }
  }
}

const Producers::Producer* Producers::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

const Node* Producers::node(std::string_view name) const {
  const Producer* found = find(name);
  return found == nullptr ? nullptr : found->node;
}

}  // namespace grurun::onnx_io
