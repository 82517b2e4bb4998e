// A run's report in each format against a golden file beside this one. GRURUN_UPDATE_GOLDEN=1 writes them
// anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "conformance/version.h"
#include "report/format.h"
#include "report/run/run_format.h"
#include "tests/report/golden.h"

namespace grurun::report {
namespace {

Value tensor(std::vector<float> values) {
  return Tensor::from(Shape{2}, std::move(values));
}

/// One output that differs, one that nothing is expected of, and one that a random operator makes.
RunReport sample_run() {
  RunReport run;
  run.model = "models/gru\n.onnx";
  run.compares = true;
  run.outputs = {"Y", "<Y_h>", "noise"};
  run.outcome.outputs = {tensor({1, 2}), tensor({3, 4}), tensor({0.5, 0.25})};
  run.outcome.judgements.resize(3);
  trial::Judgement& differs = run.outcome.judgements[0];
  differs.compared = true;
  differs.comparison = trial::compare_values(run.outcome.outputs[0], tensor({1, 2.5}), {});
  trial::Judgement& random = run.outcome.judgements[2];
  random.compared = random.random = true;
  random.comparison.ok = true;
  random.comparison.actual_type = random.comparison.expected_type = "tensor(float) [2]";
  run.reasons.push_back({"reproduced", "", "node 'gru' (GRU-14)", {"gate-order"}, 1, "expected Y is rzh"});
  run.warnings.push_back(
      {"GRU065", opset::Severity::warning, "graph/gru", "GRU-14", "Rbh is not 0", "attribute clip"});
  run.warnings.push_back({"SHAPE004", opset::Severity::warning, "", "", "'X' is declared"});
  return run;
}

/// With the program's version taken out.
std::string made(std::string_view format, const RunReport& run) {
  for (const Format<RunReport>& row : formats<RunReport>()) {
    if (row.name != format) continue;
    std::string text = row.make(run);
    const std::string version = conformance::version();
    if (const std::size_t at = text.find(version); at != text.npos)
      text.replace(at, version.size(), "VERSION");
    return text;
  }
  return "no such format";
}

TEST(RunReport, Formats) {
  expect_golden("run/golden/run.txt", made("text", sample_run()));
  expect_golden("run/golden/run.json", made("json", sample_run()));
}

TEST(RunReport, ARunThatFailed) {
  RunReport run;
  run.model = "m.onnx";
  run.error = Error(ErrorKind::unsupported, "no kernel for Abs-1");
  expect_golden("run/golden/failed.json", made("json", run));
  EXPECT_EQ(made("text", run), "");
}

TEST(RunReport, VerdictAndExitStatusAgree) {
  const auto told = [](const RunReport& run) {
    return std::pair(std::string(run.verdict()), run.exit_status());
  };
  using Told = std::pair<std::string, int>;
  RunReport run = sample_run();
  EXPECT_EQ(told(run), Told("differs", 1));
  run.outcome.judgements[0].comparison.ok = true;
  EXPECT_EQ(told(run), Told("passed", 0));
  run.compares = false;
  EXPECT_EQ(told(run), Told("ran", 0));
  const std::tuple<ErrorKind, const char*, int> errors[] = {{ErrorKind::usage, "ran", 2},
                                                            {ErrorKind::invalid_model, "invalid", 3},
                                                            {ErrorKind::unsupported, "unsupported", 4},
                                                            {ErrorKind::limit, "timed-out", 5},
                                                            {ErrorKind::internal, "crashed", 70}};
  for (const auto& [kind, verdict, status] : errors) {
    run.error = Error(kind, "m");
    EXPECT_EQ(told(run), Told(verdict, status));
  }
}

}  // namespace
}  // namespace grurun::report
