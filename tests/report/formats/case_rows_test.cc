// What bisect, reduce, generate and diff report, in every format, against tests/report/formats/golden.
#include <gtest/gtest.h>

#include "report/bisect/bisect_format.h"
#include "report/diff/model_diff_format.h"
#include "report/format.h"
#include "report/generate/generate_format.h"
#include "report/reduce/reduce_format.h"
#include "tests/opset/model_text.h"
#include "tests/report/golden_rows.h"

namespace grurun::report {
namespace {

/// Operators that round nowhere here: numbers are the same on every processor.
onnx::ModelProto scaled_by(const std::string& factor) {
  onnx::ModelProto proto =
      proto_from_text(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[4] x) => (float[4] y)
    <float k = {)" + factor +
                      R"(}> { a = Neg(x) b = Mul(a, k) c = Abs(b) y = Neg(c) })");
  onnx::NodeProto& node = *proto.mutable_graph()->mutable_node(1);
  node.set_name("scale <1>");
  node.set_doc_string("model.py, line 7");
  return proto;
}

const std::vector<Value>& four_inputs() {
  static const std::vector<Value> inputs{Tensor::from(Shape{4}, std::vector<float>{1, -2, 3, 0.5f})};
  return inputs;
}

trial::Bisection bisected() {
  const onnx_io::Model wrong = model_from_proto(scaled_by("4")), right = model_from_proto(scaled_by("2"));
  trial::Reference reference = trial::reference_of(wrong, four_inputs(), right, {}, "");
  trial::BisectOptions options;
  options.all = true;
  options.rank = true;
  trial::Bisection bisection = trial::bisect(wrong, four_inputs(), reference, options);
  bisection.reference = "right.onnx";
  return bisection;
}

TEST(CaseRows, Bisect) {
  expect_golden_rows("bisect", BisectReport{"wrong.onnx", bisected(), {}, {}}, true);
}

TEST(CaseRows, BisectFindsANumber) {
  const onnx_io::Model model =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[4] x) => (float[4] y)
    <float zero = {0}> { a = Neg(x) b = Div(a, zero) y = Abs(b) })");
  expect_golden_rows(
      "bisect-find",
      BisectReport{"model.onnx", {}, "inf", trial::find_oddity(model, four_inputs(), trial::Oddity::inf, {})},
      true);
  expect_golden_rows("bisect-find-none", BisectReport{"model.onnx", {}, "nan", std::nullopt}, true);
}

TEST(CaseRows, Reduce) {
  conformance::Reduction reduction;
  reduction.part.model = model_from_proto(scaled_by("4"));
  reduction.part.model.graph.nodes.resize(2);
  reduction.whole = {conformance::Verdict::differs, "output 'y': 4 of 4 elements differ", "elements"};
  reduction.reduced = {conformance::Verdict::differs, "output 'b': 1 of 1 elements differ", "elements"};
  reduction.before = {12, 4096};
  reduction.after = {2, 155};
  reduction.runs = 17;
  reduction.is_complete = false;
  reduction.notes = {"names are kept: with others it does not fail so"};
  expect_golden_rows("reduce", ReduceReport{"model.onnx", "case", reduction});
  expect_golden_rows("reduce-nothing", ReduceReport{"model.onnx", "case", std::nullopt});
}

TEST(CaseRows, Generate) {
  trial::Generated generated;
  generated.sets.push_back(
      {"test_data_set_0", {{"batch", 2}}, 7, {"x: tensor(float) [2,4], uniform in [-1, 1]"}});
  generated.frozen.push_back({"batch", 3, "node 'flat' (Reshape-14)", "'fixed', a tensor(int64) [2] of 2, -1",
                              "invalid: y [2,6] <3>"});
  expect_golden_rows("generate", GenerateReport{"model.onnx", "case", generated});
}

TEST(CaseRows, ModelDiff) {
  const onnx_io::Model a = model_from_proto(scaled_by("2")), b = model_from_proto(scaled_by("4"));
  ModelDiffReport report{"a.onnx", "b.onnx", trial::diff_models(a, b), std::nullopt, std::nullopt};
  expect_golden_rows("model-diff", report);
  report.runs = {trial::diff_runs(a, b, four_inputs(), {}, 0)};
  report.runs->front().sizes = {{"n", 4}};
  report.parting = bisected();
  report.parting->ranking.clear();
  expect_golden_rows("model-diff-runs", report);
  expect_golden_rows("model-diff-same", ModelDiffReport{"a.onnx", "a.onnx", trial::diff_models(a, a),
                                                        std::nullopt, std::nullopt});
}

}  // namespace
}  // namespace grurun::report
