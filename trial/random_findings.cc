#include "trial/random_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "engine/graph/node_rules.h"
#include "opset/findings/check_report.h"
#include "opset/pages/page.h"
#include "opset/schema/registry.h"

namespace grurun::trial {

namespace {

using onnx_io::Node;

int since_version(const Node& node, const onnx_io::Model& model) {
  const auto import = model.opset_imports.find(node.domain);
  if (import == model.opset_imports.end()) return 0;
  return opset::since_version(node.op_type, node.domain, import->second).value_or(0);
}

/// "node 'drop'", and the operator where the rest of the sentence does not say it.
std::string named(const Node& node, const onnx_io::Model& model, bool with_operator) {
  const std::string label = engine::node_label(node, "", since_version(node, model));
  return with_operator || node.name.empty() ? label : fmt::format("node '{}'", node.name);
}

std::string what_it_does(const RandomOrigin& origin) {
  const bool is_inner = origin.drawn != origin.place;
  if (trains(*origin.drawn))
    return is_inner ? fmt::format("holds a {} that runs in training mode", origin.op_type)
                    : "runs in training mode";
  return is_inner ? fmt::format("holds a {}, which draws random values", origin.op_type)
                  : "draws random values";
}

bool is_any_of(const Node& node, std::initializer_list<std::string_view> types) {
  return node.domain.empty() && std::ranges::find(types, node.op_type) != types.end();
}

}  // namespace

std::string cause_of(const RandomOrigin& origin, const onnx_io::Model& model) {
  const Node& place = origin.place != nullptr ? *origin.place : *origin.drawn;
  const bool says_dropout = trains(*origin.drawn) && origin.drawn == origin.place;
  return named(place, model, !says_dropout) + " " + what_it_does(origin);
}

std::string unjudged_text(const std::string& cause, const std::string& allow) {
  const bool trained = cause.ends_with("training mode");
  return fmt::format("{}: outputs after it are random and only their distribution was checked; {}pass {}",
                     cause, trained ? "call .eval() before export, or " : "where that is wanted, ", allow);
}

void add_random_findings(const onnx_io::Model& model, const std::vector<Value>& inputs,
                         const std::unordered_map<std::string, Tensor>& made, opset::CheckResult& result,
                         const opset::OnFinding& on_finding) {
  opset::CheckReport report(result, on_finding);
  const opset::CheckScope scope = opset::CheckScope::of_main_graph(model);
  std::set<const Node*> told;
  for (const auto& origin : find_surely_random_outputs(model, inputs, made)) {
    if (!origin || origin->place == nullptr || !told.insert(origin->place).second) continue;
    const std::vector<Node>& nodes = model.graph.nodes;
    const auto index = static_cast<std::size_t>(origin->place - nodes.data());
    const int version = since_version(*origin->place, model);
    report.add(
        opset::Rule::random_output,
        opset::NodeAt{scope, *origin->place, index, version > 0 ? std::optional(version) : std::nullopt},
        fmt::format("{}: outputs after it are random, and no comparison by value can judge them{}",
                    what_it_does(*origin), trains(*origin->drawn) ? "; call .eval() before export" : ""));
  }
}

bool tests_random_operator(const onnx_io::Model& model) {
  std::size_t drawing = 0, behind = 0;
  bool is_uniform = false;
  for (const Node& node : model.graph.nodes) {
    if (opset::draws_of(node) != opset::Draws::never) {
      ++drawing;
      is_uniform = is_any_of(node, {"RandomUniform", "RandomUniformLike"});
    } else if (is_any_of(node, {"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Cast", "CastLike"})) {
      ++behind;
    } else if (!is_any_of(node, {"Constant"})) {
      return false;
    }
  }
  return drawing == 1 && (behind == 0 || is_uniform);
}

}  // namespace grurun::trial
