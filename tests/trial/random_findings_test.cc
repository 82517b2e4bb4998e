#include "trial/random_findings.h"

#include <gtest/gtest.h>

#include "tests/opset/model_text.h"

namespace grurun::trial {
namespace {

std::string with(const std::string& head, const std::string& graph) {
  return "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>\n" + head + graph;
}

TEST(RandomFindings, NameTheNodeOfTheMainGraph) {
  struct Row {
    const char* what;
    std::string model, found;
  };
  const std::string function =
      "<domain: \"local\", opset_import: [\"\" : 17]> F (u) => (v) { t = Constant <value = bool {1}> () v = "
      "Dropout(u, , t) }";
  const Row rows[] = {
      {"Dropout that trains",
       "g (float[2] x) => (float[2] y) <bool t = {1}> { [drop] d = Dropout(x, , t) y = Abs(d) }",
       "node 'drop' runs in training mode"},
      {"inference", "g (float[2] x) => (float[2] y) <bool t = {0}> { [drop] d = Dropout(x, , t) y = Abs(d) }",
       ""},
      {"ratio 0",
       "g (float[2] x) => (float[2] y) <float r = {0}, bool t = {1}> { [drop] d = Dropout(x, r, t) y = "
       "Abs(d) }",
       ""},
      {"a mode that only a run knows",
       "g (float[2] x, bool t) => (float[2] y) { [drop] y = Dropout(x, , t) }", ""},
      {"nothing depends on it",
       "g (float[2] x) => (float[2] y) <bool t = {1}> { [drop] d = Dropout(x, , t) y = Abs(x) }", ""},
      {"an operator that draws",
       "g () => (float[2] y) { [noise] n = RandomNormal <shape = [2]> () y = Abs(n) }",
       "node 'noise' (RandomNormal-1) draws random values"},
  };
  for (const Row& row : rows) {
    const onnx_io::Model model = model_from_text(with("", row.model));
    const auto origins = find_surely_random_outputs(model, {}, {});
    EXPECT_EQ(origins[0] ? cause_of(*origins[0], model) : "", row.found) << row.what;
    opset::CheckResult result;
    add_random_findings(model, {}, {}, result);
    EXPECT_EQ(result.findings.size(), row.found.empty() ? 0u : 1u) << row.what;
  }
  const onnx_io::Model calling =
      model_from_text(with("", "g (float[2] x) => (float[2] y) { [call] y = local.F(x) }\n") + function);
  const auto origins = find_random_outputs(calling, {});
  ASSERT_TRUE(origins[0]);
  EXPECT_EQ(cause_of(*origins[0], calling),
            "node 'call' (local.F) holds a Dropout that runs in training mode");
}

TEST(RandomFindings, ATestOfARandomOperatorHasNothingElse) {
  const auto tests = [](const std::string& graph) {
    return tests_random_operator(model_from_text(with("", graph)));
  };
  EXPECT_TRUE(tests("g (float[2] x) => (float[2] y) { y = Bernoulli(x) }"));
  EXPECT_TRUE(tests(
      "g (float[2] x) => (float[2] y) { u = RandomUniformLike(x) b = Greater(u, x) y = Cast <to = 1> (b) }"));
  EXPECT_FALSE(tests("g (float[2] x) => (float[2] y) { b = Bernoulli(x) y = Neg(b) }"));
  EXPECT_FALSE(tests("g (float[2] x) => (float[2] y) { b = Bernoulli(x) y = Cast <to = 1> (b) }"));
}

}  // namespace
}  // namespace grurun::trial
