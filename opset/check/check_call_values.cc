#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "onnx/onnx_pb.h"
#include "onnx_io/models/proto_convert.h"
#include "onnx_io/models/walk.h"
#include "opset/check/check_node.h"
#include "opset/check/check_parts.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/recurrent/recurrent_rules.h"

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Node;

// Calls that give other values than the ones before. A few functions can call each other with vastly many.
constexpr std::size_t most_calls = 20'000;

// Inference judges these in each call.
bool is_recurrent(const Node& node) {
  return find_recurrent_form(node.op_type, node.domain) != nullptr;
}

bool refers(const Node& node) {
  return std::ranges::any_of(node.attributes, [](const Attribute& a) { return !a.ref_attr_name.empty(); });
}

class CallWalk {
 public:
  CallWalk(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report)
      : functions_(functions), report_(report), made_here_(model.from_openvino_ir) {}

  /// A function being called; nullptr members: the main graph.
  struct Call {
    const Function* function = nullptr;
    const Node* node = nullptr;
    std::string path;  // of the call in the main graph
  };

  void walk(const std::vector<Node>& nodes, const CheckScope& scope, const Call& call) {
    for (std::size_t i = 0; i < nodes.size() && visited_.size() <= most_calls; ++i) {
      if (call.function == nullptr || !refers(nodes[i])) {
        descend(nodes[i], scope, i, call);
        continue;
      }
      Node resolved = nodes[i];
      resolve_references(resolved, *call.function, *call.node);
      if (!is_recurrent(nodes[i])) compare(scope, nodes[i], resolved, i, call);
      descend(resolved, scope, i, call);
    }
  }

  bool complete() const { return visited_.size() <= most_calls; }

 private:
  void descend(const Node& node, const CheckScope& scope, std::size_t index, const Call& call) {
    const NodeAt at{scope, node, index};
    if (const Function* function = functions_.find(node)) {
      if (!visited_.emplace(function, values_of(node)).second) return;
      walk(function->nodes, CheckScope::of_function(*function),
           {function, &node, call.function == nullptr ? at.path() : call.path});
    }
    onnx_io::for_each_body(node, [&](const onnx_io::Graph& body, const Attribute& attribute) {
      walk(body.nodes, CheckScope::of_subgraph(at, attribute.name), call);
    });
  }

  static std::string values_of(const Node& call) {
    onnx::NodeProto values;
    for (const Attribute& attribute : call.attributes)
      *values.add_attribute() = onnx_io::attribute_to_proto(attribute);
    return values.SerializeAsString();
  }

  std::vector<Finding> judge(const CheckScope& scope, const Node& node, std::size_t index) const {
    CheckResult result;
    CheckReport report(result);
    NodeChecker(functions_, report, made_here_).check(scope, node, index);
    return std::move(result.findings);
  }

  void compare(const CheckScope& scope, const Node& written, const Node& resolved, std::size_t index,
               const Call& call) {
    std::set<std::pair<std::string, std::string>> known;
    for (const Finding& finding : judge(scope, written, index)) known.emplace(finding.code, finding.message);
    const std::string key = node_key(scope, index);
    for (const Finding& finding : judge(scope, resolved, index)) {
      if (known.contains({finding.code, finding.message})) continue;
      if (!told_.emplace(key, finding.code, finding.message).second) continue;
      if (finding.severity == Severity::error) report_.mark_faulty({scope, written, index});
      report_.add(*find_rule(finding.code), {key, finding.node, finding.op},
                  fmt::format("{} (in the call '{}')", finding.message, call.path), finding.section);
    }
  }

  const FunctionIndex& functions_;
  CheckReport& report_;
  const bool made_here_;
  std::set<std::pair<const Function*, std::string>> visited_;         // with the values of the attributes
  std::set<std::tuple<std::string, std::string, std::string>> told_;  // node, code, message
};

}  // namespace

void check_call_values(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report) {
  if (model.functions.empty()) return;
  CallWalk walk(model, functions, report);
  walk.walk(model.graph.nodes, CheckScope::of_main_graph(model), {});
  if (walk.complete()) return;
  report.add(Rule::expansion_size, "", "",
             fmt::format("attributes in functions are judged with the values of the first {} calls that "
                         "give different ones",
                         most_calls));
}

}  // namespace grurun::opset
