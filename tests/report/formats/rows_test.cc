// Every row of the report table whose subject has no test of its own, against a golden file in
// tests/report/formats/golden. GRURUN_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include "report/compare/compare_format.h"
#include "report/findings/check_format.h"
#include "report/suite/headroom_format.h"
#include "report/suite/suite_diff.h"
#include "tests/report/golden_rows.h"

namespace grurun::report {
namespace {

trial::Comparison differing_values() {
  return trial::compare_values(Tensor::from(Shape{2, 2}, std::vector<float>{1, 2, 3, 4}),
                               Tensor::from(Shape{2, 2}, std::vector<float>{1, 2.5f, 3, 4.0001f}),
                               {{}, {}, {}, 0});
}

TEST(FormatRows, Compare) {
  ComparedFiles compared{"mine", "theirs", {}};
  const Tensor same = Tensor::from(Shape{2}, std::vector<float>{1, 2});
  compared.values.push_back({"a/equal", true, true, trial::compare_values(same, same, {{}, {}, {}, 0}), {}});
  compared.values.push_back({"a/output_0", true, true, differing_values(), {}});
  compared.values.push_back({"b/<here>", true, false, {}, {}});
  compared.values.push_back({"b/there", false, true, {}, {}});
  compared.values.push_back({"c", true, true, {}, "c.npy: its header is cut short"});
  expect_golden_rows("compare", compared);
}

TEST(FormatRows, Diff) {
  expect_golden_rows("diff", SuiteDiff{"old.json",
                                       "new.json",
                                       {{ChangeKind::new_failure, "node/test_<a>", "differs: max_abs 1"},
                                        {ChangeKind::worse, "node/test_b", "max_abs 0.75 instead of 0.5"},
                                        {ChangeKind::fixed, "node/test_c", "passed; it was differs"}},
                                       5});
}

TEST(FormatRows, HeadroomAndSuggestedPolicy) {
  HeadroomView view;
  for (const std::string name : {"test_one", "test_several"}) {
    conformance::Case& test = view.suite.cases.emplace_back();
    test.kind = "node";
    test.name = name;
    test.path = "data/node/" + name;
    conformance::CaseOutcome& outcome = view.suite.outcomes.emplace_back();
    outcome.ran = true;
    outcome.result.verdict = conformance::Verdict::differs;
    outcome.result.operators = {"GRU"};
    if (name == "test_several") outcome.result.operators.emplace_back("Squeeze");
    outcome.result.outputs.push_back({"test_data_set_0", "Y", false, differing_values()});
  }
  expect_golden_rows("headroom", view);
  expect_golden("formats/golden/suggested_policy.toml", suggested_policy(view.suite));
}

TEST(FormatRows, Check) {
  std::vector<CheckedModel> models(3);
  models[0].path = "a.onnx";
  models[0].findings.push_back({"GRU001", opset::Severity::error, "graph/gru", "GRU-7",
                                "GRU-7 has no attribute 'layout'", "Attributes"});
  models[0].findings.push_back(
      {"GRAPH011", opset::Severity::warning, "", "", "2 nodes are named 'a: <b>, 100%'"});
  models[1].path = "good.onnx";
  models[2].path = "none.onnx";
  models[2].failure = "invalid: none.onnx: it is empty";
  expect_golden_rows("check", models);
}

}  // namespace
}  // namespace grurun::report
