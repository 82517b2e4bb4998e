#include "report/reduce/reduce_format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/counted.h"
#include "report/json_text.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using Json = nlohmann::ordered_json;
using conformance::CaseSize;
using conformance::Reduction;

std::string size_text(const CaseSize& size) {
  return fmt::format("{}, {} bytes", counted(size.nodes, "node"), size.bytes);
}

std::string node_text(const onnx_io::Node& node) {
  const std::string op = onnx_io::qualified_name(node.domain, node.op_type);
  return printable(node.name.empty() ? op : fmt::format("{} '{}'", op, node.name));
}

Json size_json(const CaseSize& size) {
  return {{"nodes", size.nodes}, {"bytes", size.bytes}};
}

Json infos_json(const std::vector<onnx_io::ValueInfo>& infos) {
  Json out = Json::array();
  for (const onnx_io::ValueInfo& info : infos)
    out.push_back({{"name", info.name}, {"type", info.type.describe()}});
  return out;
}

}  // namespace

std::string reduce_text(const ReduceReport& report) {
  if (!report.reduction)
    return fmt::format("{} does not fail: there is nothing to reduce\n", printable(report.model));
  const Reduction& reduction = *report.reduction;
  std::string text = fmt::format("{}: {}\n", conformance::verdict_name(reduction.reduced.verdict),
                                 printable(reduction.reduced.message));
  text += fmt::format("{}: {}, of {}\n", printable(report.folder), size_text(reduction.after),
                      size_text(reduction.before));
  constexpr std::size_t most_nodes = 20;
  const auto& nodes = reduction.part.model.graph.nodes;
  for (std::size_t i = 0; i < nodes.size() && i < most_nodes; ++i) text += "  " + node_text(nodes[i]) + "\n";
  if (nodes.size() > most_nodes) text += fmt::format("  and {} more\n", nodes.size() - most_nodes);
  for (const std::string& note : reduction.notes) text += printable(note) + "\n";
  if (!reduction.is_complete)
    text += fmt::format("stopped after {}: it may become smaller\n", counted(reduction.runs, "run"));
  return text;
}

std::string reduce_json(const ReduceReport& report) {
  Json out{{"model", report.model}, {"fails", report.reduction.has_value()}};
  if (!report.reduction) return json_text(out);
  const Reduction& reduction = *report.reduction;
  const onnx_io::Graph& graph = reduction.part.model.graph;
  out["verdict"] = conformance::verdict_name(reduction.reduced.verdict);
  out["message"] = reduction.reduced.message;
  out["folder"] = report.folder;
  out["before"] = size_json(reduction.before);
  out["after"] = size_json(reduction.after);
  out["nodes"] = Json::array();
  for (const onnx_io::Node& node : graph.nodes)
    out["nodes"].push_back(
        {{"name", node.name}, {"operator", onnx_io::qualified_name(node.domain, node.op_type)}});
  out["inputs"] = infos_json(graph.inputs);
  out["outputs"] = infos_json(graph.outputs);
  out["runs"] = reduction.runs;
  out["complete"] = reduction.is_complete;
  out["notes"] = reduction.notes;
  return json_text(out);
}

}  // namespace grurun::report
