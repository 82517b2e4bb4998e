// Attributes of nodes in functions, judged with the values that calls give.
#include <gtest/gtest.h>

#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

// "code [node] message" of each finding but notes.
std::vector<std::string> findings(const onnx_io::Model& model) {
  std::vector<std::string> out;
  for (const Finding& finding : check_model(model).findings) {
    if (finding.severity != Severity::note)
      out.push_back(finding.code + " [" + finding.node + "] " + finding.message);
  }
  return out;
}

const std::string calls = R"(<domain: "ns", opset_import: ["" : 14, "ns" : 1]> )";

struct CallCase {
  const char* what;
  const char* nodes;  // of the main graph
  std::string functions;
  std::vector<std::string> expected;
};

TEST(CheckCallValues, JudgesAttributesWithTheValuesOfTheCalls) {
  const std::string pad = calls +
                          "f <m> (x) => (y) { p = Constant <value = int64[2] {1, 1}> () y = Pad "
                          "<mode: string = @m> (x, p) } ";
  const std::string elu = calls + "f <a> (x) => (y) { y = Elu <alpha: float = @a> (x) } ";
  const std::string concat = calls + "f <a> (x) => (y) { y = Concat <axis: int = @a> (x) } ";
  const CallCase cases[] = {
      {"a value that is right", "Y = ns.f <a = 1.0> (X)", elu, {}},
      {"no value: the operator's own default", "Y = ns.f (X)", elu, {}},
      {"a type that the operator does not take",
       "Y = ns.f <a = 1> (X)",
       elu,
       {"SCHEMA006 [function ns.f/Elu#0] attribute 'alpha' is INT, Elu-6 wants FLOAT (in the call "
        "'graph/f#0')"}},
      {"a mode that the operator does not know",
       "n = ns.f <m = \"wrap\"> (X) Y = Relu(X)",
       pad,
       {"SCHEMA013 [function ns.f/Pad#1] mode is 'wrap', but Pad-13 knows constant, reflect, edge; Pad-19 "
        "has it: import opset 19 or newer (in the call 'graph/f#0')"}},
      {"a default of the function that the operator does not know",
       "n = ns.f (X) Y = Relu(X)",
       calls + "f <m: string = \"wrap\"> (x) => (y) { p = Constant <value = int64[2] {1, 1}> () y = Pad "
               "<mode: string = @m> (x, p) } ",
       {"SCHEMA013 [function ns.f/Pad#1] mode is 'wrap', but Pad-13 knows constant, reflect, edge; Pad-19 "
        "has it: import opset 19 or newer (in the call 'graph/f#0')"}},
      {"no value for what the operator needs",
       "Y = ns.f (X)",
       concat,
       {"SCHEMA005 [function ns.f/Concat#0] attribute 'axis' (INT) is missing (in the call 'graph/f#0')"}},
      {"the same fault in two calls is told once",
       "n = ns.f <a = 1> (X) Y = ns.f <a = 2> (n)",
       elu,
       {"SCHEMA006 [function ns.f/Elu#0] attribute 'alpha' is INT, Elu-6 wants FLOAT (in the call "
        "'graph/f#0')"}},
      {"a right call does not hide a wrong one",
       "n = ns.f <a = 1.0> (X) Y = ns.f <a = 2> (n)",
       elu,
       {"SCHEMA006 [function ns.f/Elu#0] attribute 'alpha' is INT, Elu-6 wants FLOAT (in the call "
        "'graph/f#1')"}},
      {"a value handed on by another function",
       "Y = ns.h <b = 1> (X)",
       elu + calls + "h <b> (x) => (y) { y = ns.f <a: float = @b> (x) }",
       {"SCHEMA006 [function ns.f/Elu#0] attribute 'alpha' is INT, Elu-6 wants FLOAT (in the call "
        "'graph/h#0')"}},
      {"what is wrong whatever the value is told once",
       "Y = ns.f <a = 1.0> (X)",
       calls + "f <a> (x) => (y) { y = Elu <alpha: float = @a> (x, x) }",
       {"SCHEMA008 [function ns.f/Elu#0] 2 inputs; Elu-6 takes 1 (X)"}},
      {"a recurrent layer, which inference judges",
       "n = ns.f <d = \"sideways\"> (X) Y = Relu(X)",
       calls + "f <d> (x) => (y) { w = Constant <value = float[1,3,1] {1, 1, 1}> () "
               "b = Constant <value_ints = [2, 1, 1]> () x3 = Reshape (x, b) "
               "y = GRU <direction: string = @d> (x3, w, w) }",
       {"GRU004 [function ns.f/GRU#3] direction is 'sideways'; it must be forward, reverse or "
        "bidirectional"}},
  };
  for (const CallCase& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(findings(with_function(c.nodes, c.functions)()), c.expected);
  }
}

// 2^16 calls of the innermost function, all with the same value.
TEST(CheckCallValues, VisitsCallsOfOneValueOnce) {
  std::string functions;
  constexpr int levels = 16;
  for (int i = 0; i < levels; ++i) {
    const std::string next = i + 1 < levels ? "ns.f" + std::to_string(i + 1) + " <a: float = @a>"
                                            : std::string("Elu <alpha: float = @a>");
    functions +=
        calls + "f" + std::to_string(i) + " <a> (x) => (y) { n = " + next + " (x) y = " + next + " (n) } ";
  }
  EXPECT_EQ(findings(with_function("Y = ns.f0 <a = 1.0> (X)", functions)()), std::vector<std::string>{});
}

}  // namespace
}  // namespace grurun::opset
