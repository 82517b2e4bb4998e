// Attributes that no run could begin with.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "opset/check/check.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

std::optional<NodeFault> refuses_elu(const onnx_io::Node& node, const onnx_io::OpsetImports& imports,
                                     const NodeInputs&) {
  if (node.op_type != "Elu" || imports.at("") != 14) return std::nullopt;
  return NodeFault{"SCHEMA014", "no Elu"};
}

TEST(CheckPreparation, IsAskedOfNodesWithoutAnErrorEverywhere) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14, "ns" : 1]>
        g (float[2] X, bool c, float[3] Z) => (float[2] Y, float[2] I, float[2] P, float[2] F) {
          [a] Y = Elu <alpha = 1.0> (X)
          [wrong] P = Elu <alhpa = 1.0> (X)
          [i] I = If (c) <then_branch = t () => (float[2] p) { [b] p = Elu <alpha = 1.0> (X) },
                          else_branch = e () => (float[2] q) { q = Relu(X) }>
          F = ns.f(X)
        }
        <domain: "ns", opset_import: ["" : 14]> f (x) => (y) { [d] y = Elu <alpha = 1.0> (x) })"),
                                         {}, refuses_elu);
  std::set<std::string> found;
  for (const Finding& finding : result.findings) {
    if (finding.code == "SCHEMA014") found.insert(finding.node + " " + finding.op + ": " + finding.message);
  }
  EXPECT_EQ(found, (std::set<std::string>{"graph/a Elu-6: no Elu", "graph/i.then_branch/b Elu-6: no Elu",
                                          "function ns.f/d Elu-6: no Elu"}))
      << listed(result);
}

}  // namespace
}  // namespace grurun::opset
