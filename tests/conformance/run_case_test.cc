// Cases written to disk, found and run as a user's are.
#include "conformance/run_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>

#include "conformance/discover.h"
#include "conformance/suite.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "tests/places/scratch.h"
#include "trial/data_set.h"

namespace grurun::conformance {
namespace {

using testing::HasSubstr;
using tests::Scratch;

void add_value(onnx::ValueInfoProto* info, const std::string& name, std::vector<int> dims, int type = 1) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const int dim : dims) {
    auto* added = tensor->mutable_shape()->add_dim();
    if (dim >= 0)
      added->set_dim_value(dim);
    else
      added->set_dim_param("batch");
  }
}

/// y = x + w, both [2]; w is an initializer that is listed as the first input.
onnx::ModelProto add_model(const std::string& op = "Add") {
  onnx::ModelProto model;
  model.set_ir_version(3);
  model.add_opset_import()->set_version(13);
  auto* graph = model.mutable_graph();
  graph->set_name("g");
  add_value(graph->add_input(), "w", {2});
  add_value(graph->add_input(), "x", {2});
  add_value(graph->add_output(), "y", {2});
  auto* w = graph->add_initializer();
  w->set_name("w");
  w->set_data_type(1);
  w->add_dims(2);
  w->add_float_data(10);
  w->add_float_data(20);
  auto* node = graph->add_node();
  node->set_op_type(op);
  node->add_input("x");
  node->add_input("w");
  node->add_output("y");
  return model;
}

void pb(const Scratch& scratch, const std::string& name, std::vector<float> values) {
  scratch.file(name, "");
  onnx_io::write_pb(scratch.path(name), "",
                    Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values));
}

CaseResult run(const Scratch& scratch, const std::string& path, const CaseOptions& options = {}) {
  const Discovery found = discover({scratch.path(path)});
  EXPECT_EQ(found.cases.size(), 1u);
  return run_case(found.cases.at(0), options);
}

TEST(RunCase, PassesAndTellsOperatorsAndErrors) {
  const Scratch s;
  s.file("node/a/model.onnx", add_model().SerializeAsString());
  pb(s, "node/a/test_data_set_0/input_0.pb", {1, 2});
  pb(s, "node/a/test_data_set_0/output_0.pb", {11, 22.001f});
  const CaseResult got = run(s, "node");
  EXPECT_EQ(got.verdict, Verdict::passed) << got.message;
  EXPECT_EQ(got.message, "");
  EXPECT_EQ(got.operators, (std::vector<std::string>{"Add"}));
  ASSERT_EQ(got.outputs.size(), 1u);
  EXPECT_EQ(got.outputs[0].name, "y");
  EXPECT_EQ(got.outputs[0].data_set, "test_data_set_0");
  EXPECT_NEAR(got.outputs[0].comparison.errors.max_abs, 1e-3, 1e-4);
}

TEST(RunCase, EveryDataSetCountsAndTheFirstDifferenceIsTold) {
  const Scratch s;
  s.file("node/a/model.onnx", add_model().SerializeAsString());
  for (int i = 0; i < 3; ++i) {
    const std::string set = "node/a/test_data_set_" + std::to_string(i);
    pb(s, set + "/input_0.pb", {1, 2});
    pb(s, set + "/output_0.pb", {11, i == 1 ? 23.0f : 22.0f});
  }
  const CaseResult got = run(s, "node");
  EXPECT_EQ(got.verdict, Verdict::differs);
  EXPECT_EQ(got.outputs.size(), 3u);
  EXPECT_THAT(got.message, HasSubstr("test_data_set_1, output 'y': 1 of 2 elements differ"));
  EXPECT_THAT(got.message, HasSubstr("first at [1]: 22, expected 23"));
  CaseOptions loose;
  loose.tolerance.rtol = 0.1;
  EXPECT_EQ(run(s, "node", loose).verdict, Verdict::passed);
}

TEST(RunCase, OutputsThatContradictTheModelAreWarnedOf) {
  const Scratch s;
  onnx::ModelProto model = add_model();
  model.mutable_graph()->clear_input();
  model.mutable_graph()->clear_output();
  add_value(model.mutable_graph()->add_input(), "x", {-1});
  add_value(model.mutable_graph()->add_output(), "y", {-1});
  s.file("node/a/model.onnx", model.SerializeAsString());
  pb(s, "node/a/test_data_set_0/input_0.pb", {1, 2});
  pb(s, "node/a/test_data_set_0/output_0.pb", {11, 22});
  pb(s, "node/a/test_data_set_1/input_0.pb", {1});  // batch is 1 here, and 2 in y
  pb(s, "node/a/test_data_set_1/output_0.pb", {11, 21});
  const CaseResult got = run(s, "node");
  EXPECT_EQ(got.verdict, Verdict::passed) << got.message;
  ASSERT_EQ(got.warnings.size(), 1u);
  EXPECT_EQ(got.warnings[0].data_set, "test_data_set_1");
  EXPECT_EQ(got.warnings[0].finding.code, "SHAPE004");
  EXPECT_EQ(got.warnings[0].finding.message,
            "'y' is declared tensor(float) [batch], but tensor(float) [2]: 'batch' is 1 in 'x'");
  model.mutable_graph()->mutable_output(0)->CopyFrom(onnx::ValueInfoProto());
  add_value(model.mutable_graph()->mutable_output(0), "y", {2, 1});
  s.file("node/b/model.onnx", model.SerializeAsString());
  pb(s, "node/b/test_data_set_0/input_0.pb", {1, 2});
  pb(s, "node/b/test_data_set_0/output_0.pb", {11, 22});
  const CaseResult rank = run(s, "node/b");
  EXPECT_EQ(rank.verdict, Verdict::passed) << rank.message;
  ASSERT_EQ(rank.warnings.size(), 1u);
  EXPECT_THAT(rank.warnings[0].finding.message, HasSubstr("the rank differs"));
}

TEST(RunCase, InputFilesBelongToGraphInputsInitializersCounted) {
  const Scratch s;
  s.file("node/a/model.onnx", add_model().SerializeAsString());
  pb(s, "node/a/test_data_set_0/input_0.pb", {100, 200});  // overrides w
  pb(s, "node/a/test_data_set_0/input_1.pb", {1, 2});
  pb(s, "node/a/test_data_set_0/output_0.pb", {101, 202});
  const CaseResult got = run(s, "node");
  EXPECT_EQ(got.verdict, Verdict::passed) << got.message;
}

TEST(RunCase, UnsupportedAndInvalidSayWhy) {
  const Scratch s;
  const auto with = [&](const std::string& name, const onnx::ModelProto& model) {
    s.file(name + "/model.onnx", model.SerializeAsString());
    pb(s, name + "/test_data_set_0/input_0.pb", {1, 2});
    pb(s, name + "/test_data_set_0/output_0.pb", {1, 2});
  };
  with("unknown", add_model("NoSuchOperator"));
  const CaseResult unknown = run(s, "unknown");
  EXPECT_NE(unknown.verdict, Verdict::passed);
  EXPECT_THAT(unknown.message, HasSubstr("NoSuchOperator"));
  EXPECT_EQ(unknown.operators, (std::vector<std::string>{"NoSuchOperator"}));

  with("shape", add_model());
  pb(s, "shape/test_data_set_0/input_0.pb", {1, 2, 3});
  const CaseResult shape = run(s, "shape");
  EXPECT_EQ(shape.verdict, Verdict::invalid);
  EXPECT_THAT(shape.message, HasSubstr("x"));

  with("garbage", add_model());
  s.file("garbage/model.onnx", "no protobuf at all");
  EXPECT_EQ(run(s, "garbage").verdict, Verdict::invalid);

  with("extra", add_model());
  pb(s, "extra/test_data_set_0/output_1.pb", {1});
  const CaseResult extra = run(s, "extra");
  EXPECT_EQ(extra.verdict, Verdict::invalid);
  EXPECT_THAT(extra.message, HasSubstr("output_1.pb: no output belongs to it; the model has 1"));

  with("gap", add_model());
  pb(s, "gap/test_data_set_0/input_2.pb", {1});
  EXPECT_THAT(run(s, "gap").message, HasSubstr("input_2.pb: no input belongs to it; the model has 2"));

  with("both", add_model());
  s.file("both/test_data_set_0/output_0.npy", "");
  const CaseResult both = run(s, "both");
  EXPECT_EQ(both.verdict, Verdict::invalid);
  EXPECT_THAT(both.message, HasSubstr("several files for output 0: output_0.npy and output_0.pb"));

  for (const char* name : {"output_0 (1).pb", "Output_0.pb", "output_-1.pb", "output_0.npz", "input0.npy"}) {
    with(name, add_model());
    s.file(std::string(name) + "/test_data_set_0/" + name, "");
    EXPECT_EQ(run(s, name).verdict, Verdict::invalid) << name;
    EXPECT_THAT(run(s, name).message, HasSubstr("files of a data set are named ")) << name;
  }

  with("twice", add_model());
  pb(s, "twice/test_data_set_0/input_00.pb", {1, 2});
  EXPECT_THAT(run(s, "twice").message, HasSubstr("several files for input 0: input_0.pb and input_00.pb"));

  with("json", add_model());
  s.file("json/data.json", "{");
  EXPECT_EQ(run(s, "json").verdict, Verdict::invalid);
}

TEST(RunCase, WhatIsNoRegularFileIsInvalidAtOnce) {
  for (const std::string name : {"model.onnx", "test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb"}) {
    for (const bool pipe : {true, false}) {
      const Scratch s;
      s.file("a/model.onnx", add_model().SerializeAsString());
      pb(s, "a/test_data_set_0/input_0.pb", {1, 2});
      pb(s, "a/test_data_set_0/output_0.pb", {11, 22});
      const std::string path = s.path("a/" + name);
      std::filesystem::remove(path);
      if (pipe)
        s.fifo("a/" + name);
      else
        std::filesystem::create_symlink("/dev/zero", path);
      CaseOptions options;
      options.max_time = std::chrono::seconds(20);
      const CaseResult got = run(s, "a", options);
      EXPECT_EQ(got.verdict, Verdict::invalid) << got.message;
      EXPECT_THAT(got.message, testing::EndsWith(path + " is not a regular file"));
      EXPECT_THAT(got.message, testing::Not(HasSubstr("usage")));
    }
  }
}

TEST(RunCase, FlatLayoutMakesItsInputs) {
  const Scratch s;
  onnx::ModelProto model = add_model();
  model.mutable_graph()
      ->mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->clear_dim();
  add_value(model.mutable_graph()->mutable_input(1), "x", {-1, 2, 2});
  model.mutable_graph()->mutable_output(0)->clear_type();
  add_value(model.mutable_graph()->mutable_output(0), "y", {-1, 2, 2});
  s.file("light/light_a.onnx", model.SerializeAsString());
  s.file("light/light_a_output_0.pb", "");
  onnx_io::write_pb(s.path("light/light_a_output_0.pb"), "",
                    Tensor::from(Shape{1, 2, 2}, std::vector<float>{10, 20.25f, 10.5f, 20.75f}));
  const CaseResult got = run(s, "light");
  EXPECT_EQ(got.verdict, Verdict::passed) << got.message;
  EXPECT_EQ(got.outputs.at(0).data_set, "");
  s.file("light/light_a_output_1.pb", "");
  const CaseResult more = run(s, "light");
  EXPECT_EQ(more.verdict, Verdict::invalid);
  EXPECT_THAT(more.message, HasSubstr("light_a_output_1.pb is there, but the graph has 1 outputs"));
}

TEST(RunCase, AModelWithoutOutputsIsNoCase) {
  const Scratch s;
  onnx::ModelProto model = add_model();
  model.mutable_graph()->clear_output();
  s.file("a/model.onnx", model.SerializeAsString());
  s.file("a/test_data_set_0/readme.txt", "");
  const CaseResult got = run(s, "a");
  EXPECT_EQ(got.verdict, Verdict::invalid);
  EXPECT_THAT(got.message, HasSubstr("the model has no output"));
}

TEST(RunCase, TimeLimit) {
  const Scratch s;
  onnx::ModelProto model = add_model();
  auto* graph = model.mutable_graph();
  graph->clear_node();
  auto* loop = graph->add_node();
  loop->set_op_type("Loop");
  loop->add_input("");
  loop->add_input("");
  loop->add_input("x");
  loop->add_output("y");
  auto* attribute = loop->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto* body = attribute->mutable_g();
  body->set_name("body");
  add_value(body->add_input(), "i", {}, 7);
  add_value(body->add_input(), "c", {}, 9);
  add_value(body->add_input(), "s", {2});
  add_value(body->add_output(), "c", {}, 9);
  add_value(body->add_output(), "s_out", {2});
  auto* node = body->add_node();
  node->set_op_type("Identity");
  node->add_input("s");
  node->add_output("s_out");
  s.file("a/model.onnx", model.SerializeAsString());
  pb(s, "a/test_data_set_0/input_0.pb", {1, 2});
  pb(s, "a/test_data_set_0/output_0.pb", {1, 2});
  CaseOptions options;
  options.max_time = std::chrono::milliseconds(50);
  const CaseResult got = run(s, "a", options);
  EXPECT_EQ(got.verdict, Verdict::timed_out) << got.message;
}

TEST(RunSuite, RunsInWorkersAndJudgesByTheExpectations) {
  const Scratch s;
  for (const std::string name : {"good", "listed", "other"}) {
    s.file("node/" + name + "/model.onnx", add_model().SerializeAsString());
    pb(s, "node/" + name + "/test_data_set_0/input_0.pb", {1, 2});
    pb(s, "node/" + name + "/test_data_set_0/output_0.pb", {name == "good" ? 11.0f : 0.0f, 22});
  }
  SuiteResult result;
  result.cases = discover({s.path("node")}).cases;
  result.expectations = Expectations::parse("listed differs reason", "list");
  result.options.workers = 2;
  std::size_t calls = 0;
  run_suite(result, [&](const SuiteResult&, std::size_t done, std::size_t) { EXPECT_EQ(done, ++calls); });
  EXPECT_EQ(calls, 3u);
  std::vector<Verdict> verdicts;
  std::vector<bool> unexpected;
  for (const CaseOutcome& outcome : result.outcomes) {
    verdicts.push_back(outcome.result.verdict);
    unexpected.push_back(outcome.unexpected);
  }
  EXPECT_EQ(verdicts, (std::vector<Verdict>{Verdict::passed, Verdict::differs, Verdict::differs}));
  EXPECT_EQ(unexpected, (std::vector<bool>{false, false, true}));
  EXPECT_FALSE(result.as_expected());

  result.outcomes.clear();  // those that ran are not run again
  result.options.workers = 1;
  result.options.fail_fast = true;
  std::swap(result.cases[0], result.cases[2]);
  run_suite(result, {});
  EXPECT_EQ(result.end, PoolEnd::stopped);
  EXPECT_EQ(result.not_run(), 2u);
}

}  // namespace
}  // namespace grurun::conformance
