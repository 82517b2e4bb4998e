#include "opset/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "onnx/onnx_pb.h"
#include "onnx_io/values/proto_tensor.h"
#include "opset/check/check_node.h"
#include "opset/check/check_parts.h"
#include "opset/findings/check_report.h"
#include "opset/findings/labels.h"
#include "opset/inference/check_limits.h"
#include "opset/inference/infer.h"

namespace grurun::opset {

namespace {

using onnx_io::Function;
using onnx_io::Model;

void check_ir_version(const Model& model, CheckReport& report) {
  constexpr std::int64_t newest = onnx::IR_VERSION;
  if (model.ir_version >= 1 && model.ir_version <= newest) return;
  if (model.ir_version == 0) return report.add(Rule::ir_version, "", "", "the model has no ir_version");
  report.add(Rule::ir_version, "", "",
             fmt::format("ir_version is {}; versions 1 to {} are known here", model.ir_version, newest));
}

void check_imports(const onnx_io::OpsetImports& imports, const std::string& where, CheckReport& report) {
  for (const auto& [domain, version] : imports) {
    const std::string shown = onnx_io::shown_domain(domain);
    if (version < 1) {
      report.add(Rule::opset_valid, where, "", fmt::format("imports opset {} of {}", version, shown));
      continue;
    }
    const std::optional<std::int64_t> newest = newest_opset(domain);
    if (!newest || version <= *newest) continue;
    report.add(
        Rule::opset_known, where, "",
        fmt::format("imports opset {} of {}; {} is the newest known here: its nodes cannot be checked or "
                    "run, convert the model to that or wait for a newer grurun",
                    version, shown, *newest));
  }
}

void check_functions(const Model& model, CheckReport& report) {
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
  for (const Function& function : model.functions) {
    const std::string where = function_label(function.domain, function.name, function.overload);
    if (!seen.emplace(function.domain, function.name, function.overload).second) {
      report.add(Rule::function_unique, where, "",
                 function.overload.empty()
                     ? "defined twice; give one an overload name"
                     : fmt::format("overload '{}' is defined twice", function.overload));
    }
    for (const std::string& fault : repeated_parameters(function))
      report.add(Rule::function_unique, where, "", fault);
    check_imports(function.opset_imports, where, report);
  }
}

ComputedProtos as_protos(const ComputedValues& computed) {
  ComputedProtos out;
  for (const auto& [name, tensor] : computed) out.emplace(name, onnx_io::tensor_to_proto(tensor, name));
  return out;
}

// Differences from what the model declares are told apart from a node's own faults by inferring once more
// without the declarations, and once with those that are not wrong; most models need only the first run.
void check_types(const onnx::ModelProto& proto, const ComputedProtos& computed, CheckReport& report,
                 CheckResult& result) {
  Inference inference = infer_model(proto, report, true, computed);
  result.inferred = graph_types(inference.model.proto.graph());
  if (std::ranges::any_of(inference.faults, &InferenceFault::with_declared)) {
    const Inference undeclared = infer_model(proto, report, false, computed);
    const WrongDeclarations wrong = check_declared(proto, undeclared, report);
    for (auto& [name, type] : graph_types(undeclared.model.proto.graph())) result.inferred[name] = type;
    if (!wrong.empty()) inference = infer_model(proto, report, true, computed, {}, wrong);
  }
  for (const InferenceFault& fault : inference.faults) {
    const NodeLabel label = fault.node ? inference.model.nodes[*fault.node].label() : NodeLabel{};
    report.add(*fault.rule, label, fault.message, fault.section);
  }
}

}  // namespace

namespace {

// What stands above the graphs; false where it keeps types from being inferred.
bool check_head(const Model& model, CheckReport& report) {
  check_ir_version(model, report);
  check_imports(model.opset_imports, "", report);
  check_functions(model, report);
  return !report.has(Rule::opset_known) && !report.has(Rule::opset_valid) &&
         !report.has(Rule::function_unique);
}

}  // namespace

CheckResult check_model(const Model& model, const ComputedValues& computed, const NodeFaults& faults_of,
                        const OnFinding& on_finding) {
  CheckResult result;
  CheckReport report(result, on_finding);
  const bool sound = check_head(model, report);
  const FunctionIndex functions(model.functions);
  const Limits limits = check_limits(model, functions, report);
  if (!limits.safe_to_recurse) return result;
  check_graphs(model, functions, report);
  check_forms_of_nodes(model, functions, report);
  if (limits.safe_to_infer) check_call_values(model, functions, report);
  const bool opsets_known = !report.has(Rule::opset_known) && !report.has(Rule::opset_valid);
  if (model.proto == nullptr || !opsets_known) return result;
  if (limits.safe_to_infer && sound) check_types(*model.proto, as_protos(computed), report, result);
  check_surplus(model, result.inferred, report);
  check_numbers(model, report);
  check_forms_of_inputs(model, functions, {computed, result.inferred}, report);
  if (faults_of) check_preparation(model, functions, {computed, result.inferred}, faults_of, report);
  // ONNX's checker ends at the first operator that no opset has, and at a bad ir_version. OpenVINO IR may
  // leave ranks open, which a ModelProto may not.
  if (!model.from_openvino_ir && !report.has(Rule::operator_known) && !report.has(Rule::ir_version))
    run_onnx_checker(*model.proto, report);
  return result;
}

}  // namespace grurun::opset
