#include "engine/graph/executor.h"

#include <gtest/gtest.h>

#include "tests/engine/graph/model_building.h"

namespace grurun::engine {
namespace {

using namespace testing;

onnx_io::Model declared_model() {
  auto made = model(graph({"x"}, {node("Relu", {"x"}, {"y"})}, {"y"}));
  made.graph.inputs[0].type = ValueType::tensor(DType::float32, SymbolicShape{{2, ""}, {std::nullopt, "n"}});
  return made;
}

TEST(Executor, RefusesInputsThatAreNotAsDeclared) {
  const auto plan = make_plan(declared_model());
  EXPECT_NO_THROW(run_plan(*plan, {Tensor::zeros(DType::float32, {2, 7})}));
  struct Row {
    const char* what;
    std::vector<Value> inputs;
    const char* message;
  };
  const std::vector<Row> table = {
      {"dimension",
       {Tensor::zeros(DType::float32, {3, 7})},
       "input 'x' must have shape [2,n], but has [3,7]"},
      {"rank", {Tensor::zeros(DType::float32, {2})}, "must have shape [2,n], but has [2]"},
      {"type", {Tensor::zeros(DType::int32, {2, 7})}, "must be tensor(float), but is tensor(int32)"},
      {"sequence", {Sequence{}}, "must be tensor(float)"},
      {"missing", {}, "input 'x' is missing"},
      {"too many", {floats({1}), floats({1})}, "has 1 inputs, but 2 are given"},
  };
  for (const Row& row : table) {
    const auto [kind, message] = error_of([&] { run_plan(*plan, row.inputs); });
    EXPECT_EQ(kind, ErrorKind::invalid_model) << row.what;
    EXPECT_NE(message.find(row.message), std::string::npos) << row.what << ": " << message;
  }
}

TEST(Executor, RefusesSequencesOptionalsAndMapsThatAreNotAsDeclared) {
  const ValueType row = ValueType::tensor(DType::float32, SymbolicShape{{2, ""}});
  const ValueType sequence = ValueType::sequence(row), optional = ValueType::optional(sequence),
                  map = ValueType::map(DType::string, row);
  const Value good = floats({1, 2}), narrow = floats({1}), integer = Tensor::zeros(DType::int64, {2});
  const auto in_sequence = [](const Value& item) { return Sequence{item.type(), {item}}; };
  const auto in_optional = [](const Value& item) {
    return Optional{item.type(), std::make_shared<const Value>(item)};
  };
  const auto in_map = [](const Value& item, const Tensor& key) { return Map{item.type(), key, {item}}; };
  const Tensor text = Tensor::from(Shape{1}, std::vector<std::string>{"k"});
  const Tensor number = Tensor::from(Shape{1}, std::vector<std::int64_t>{7});
  struct Row {
    const ValueType& declared;
    Value given;
    const char* message;  // nullptr: fits
  };
  const std::vector<Row> table = {
      {sequence, in_sequence(good), nullptr},
      {sequence, Sequence{}, nullptr},
      {sequence, good, "input 'x' must be seq(tensor(float)), but is tensor(float) [2]"},
      {sequence, in_sequence(integer), "must be seq(tensor(float)), but is seq(tensor(int64)) of 1"},
      {sequence, Sequence{integer.type(), {}}, "must be seq(tensor(float)), but is seq(tensor(int64)) of 0"},
      {sequence, in_sequence(narrow), "input 'x[0]' must have shape [2], but has [1]"},
      {optional, in_optional(in_sequence(good)), nullptr},
      {optional, Optional{}, nullptr},
      {optional, in_sequence(good), "must be optional(seq(tensor(float))), but is seq(tensor(float)) of 1"},
      {optional, in_optional(in_sequence(integer)), "but is optional(seq(tensor(int64))) with a value"},
      {optional, in_optional(in_sequence(narrow)), "input 'x[0]' must have shape [2], but has [1]"},
      {map, in_map(good, text), nullptr},
      {map, in_map(good, number), "must be map(string,tensor(float)), but is map(int64,tensor(float)) of 1"},
      {map, in_map(integer, text), "must be map(string,tensor(float)), but is map(string,tensor(int64))"},
      {map, in_map(narrow, text), "input 'x[0]' must have shape [2], but has [1]"},
  };
  for (const Row& row : table) {
    auto made = model(graph({"x"}, {}, {"x"}));
    made.graph.inputs[0].type = row.declared;
    if (row.message == nullptr) {
      EXPECT_NO_THROW(run(made, {row.given})) << row.given.describe();
      continue;
    }
    const auto [kind, message] = error_of([&] { run(made, {row.given}); });
    EXPECT_EQ(kind, ErrorKind::invalid_model) << row.message;
    EXPECT_NE(message.find(row.message), std::string::npos) << row.message << ": " << message;
  }
}

TEST(Executor, NamesTheNodeAndItsInputsWhenOneFails) {
  const auto made = model(graph({"a", "b"}, {node("Add", {"a", "b"}, {"y"})}, {"y"}));
  const auto [kind, message] = error_of([&] { run(made, {floats({1, 2}), floats({1, 2, 3})}); });
  EXPECT_EQ(kind, ErrorKind::invalid_model);
  EXPECT_NE(message.find("node that makes 'y' (Add-14) with tensor(float) [2], tensor(float) [3]"),
            std::string::npos)
      << message;
}

TEST(Executor, RefusesTypesThatTheSchemaDoesNotAdmit) {
  const auto made = model(graph({"a", "b"}, {node("Add", {"a", "b"}, {"y"})}, {"y"}));
  const Value strings = Tensor::from(Shape{1}, std::vector<std::string>{"s"});
  const auto wrong = error_of([&] { run(made, {strings, strings}); });
  EXPECT_EQ(wrong.first, ErrorKind::invalid_model);
  EXPECT_NE(wrong.second.find("input A is tensor(string); Add-14 admits tensor(bfloat16), "),
            std::string::npos)
      << wrong.second;
  EXPECT_EQ(wrong.second.find("Cast"), std::string::npos)
      << "there is more than one type to choose from: " << wrong.second;
  const auto reshaped = model(graph({"a", "b"}, {node("Reshape", {"a", "b"}, {"y"})}, {"y"}));
  const auto shape = error_of([&] { run(reshaped, {floats({1, 2}), floats({2})}); });
  EXPECT_NE(
      shape.second.find("input shape is tensor(float); Reshape-21 admits tensor(int64); Cast it [TYPE001]"),
      std::string::npos)
      << shape.second;
  const auto mixed = error_of([&] { run(made, {floats({1}), Tensor::scalar(std::int32_t{1})}); });
  EXPECT_EQ(mixed.first, ErrorKind::invalid_model);
  EXPECT_NE(mixed.second.find("and must be the same [TYPE002]"), std::string::npos) << mixed.second;
}

// What constants tell is known before the run; what is refused, and how, stays the same.
TEST(Executor, RefusesTypesThatDoNotFitThoseOfConstants) {
  const auto constant = [](const char* name, const Tensor& value) {
    return node("Constant", {}, {name}, {attr("value", value)});
  };
  const auto with_constant = [&](std::vector<std::string> inputs) {
    return model(graph({"x"},
                       {constant("i", Tensor::scalar(std::int32_t{1})), constant("f", Tensor::scalar(1.5f)),
                        node("Sum", std::move(inputs), {"y"})},
                       {"y"}));
  };
  struct Row {
    std::vector<std::string> inputs;
    const char* message;  // nullptr: runs
  };
  const std::vector<Row> table = {
      {{"x", "f"}, nullptr},
      {{"f", "x", "f", "x"}, nullptr},
      {{"x", "i"}, "input data_0 is tensor(int32); Sum-13 admits "},
      {{"i", "x"}, "input data_0 is tensor(int32); Sum-13 admits "},
  };
  for (const Row& row : table) {
    const auto made = with_constant(row.inputs);
    if (row.message == nullptr) {
      EXPECT_NO_THROW(run(made, {floats({1})})) << row.inputs.size();
      const auto [kind, message] = error_of([&] { run(made, {Tensor::scalar(1.0)}); });
      EXPECT_EQ(kind, ErrorKind::invalid_model) << message;
      EXPECT_NE(message.find("and must be the same [TYPE002]"), std::string::npos) << message;
      continue;
    }
    const auto [kind, message] = error_of([&] { run(made, {floats({1})}); });
    EXPECT_EQ(kind, ErrorKind::invalid_model) << message;
    EXPECT_NE(message.find(row.message), std::string::npos) << message;
  }
  const auto unlike = model(graph({"x"},
                                  {constant("d", Tensor::scalar(1.0)), constant("f", Tensor::scalar(1.5f)),
                                   node("Max", {"x", "d", "f"}, {"y"})},
                                  {"y"}));
  for (const Value& x : {floats({1}), Value(Tensor::scalar(1.0))}) {
    const auto [kind, message] = error_of([&] { run(unlike, {x}); });
    EXPECT_EQ(kind, ErrorKind::invalid_model) << message;
    EXPECT_NE(message.find("and must be the same [TYPE002]"), std::string::npos) << message;
  }
}

TEST(Executor, RefusesSequencesAndOptionalsWhereTheVersionHasNone) {
  const auto one = [](const char* op) { return graph({"x"}, {node(op, {"x"}, {"y"})}, {"y"}); };
  const auto sequence = graph({}, {node("SequenceConstruct", {"x"}, {"s"})}, {"s"});
  const auto branches =
      graph({"x"},
            {node("Size", {"x"}, {"n"}), node("Cast", {"n"}, {"c"}, {attr("to", 9)}),
             node("If", {"c"}, {"y"}, {attr("then_branch", sequence), attr("else_branch", sequence)})},
            {"y"});
  const Value tensor = floats({1}), items = Sequence{ValueType::tensor(DType::float32), {tensor}};
  struct Row {
    const onnx_io::Graph& made;
    std::int64_t opset;
    const Value& x;
    const char* message;  // nullptr: runs
  };
  const auto identity = one("Identity"), has = one("OptionalHasElement"), get = one("OptionalGetElement"),
             length = one("SequenceLength");
  const std::vector<Row> table = {
      {identity, 13, items, "input is seq(tensor(float)); Identity-13 admits "},
      {identity, 14, items, nullptr},
      {has, 15, tensor, "input is tensor(float); OptionalHasElement-15 admits "},
      {has, 18, tensor, nullptr},
      {get, 15, tensor, "input is tensor(float); OptionalGetElement-15 admits "},
      {get, 18, items, nullptr},
      {length, 11, tensor, "input input_sequence is tensor(float); SequenceLength-11 admits "},
      {branches, 11, tensor, "output outputs is seq(tensor(float)); If-11 admits "},
      {branches, 13, tensor, nullptr},
  };
  for (const Row& row : table) {
    if (row.message == nullptr) {
      EXPECT_NO_THROW(run(model(row.made, row.opset), {row.x})) << row.opset;
      continue;
    }
    const auto [kind, text] = error_of([&] { run(model(row.made, row.opset), {row.x}); });
    EXPECT_EQ(kind, ErrorKind::invalid_model) << row.message;
    EXPECT_NE(text.find(row.message), std::string::npos) << text;
  }
}

TEST(Executor, ChangesASequenceWhereItIsOnlyIfNothingElseNeedsIt) {
  const std::vector<onnx_io::Node> nodes = {node("SequenceConstruct", {"x", "x"}, {"two"}),
                                            node("SequenceErase", {"two"}, {"one"}),
                                            node("SequenceInsert", {"one", "x"}, {"again"})};
  const auto lists_of = [&](const std::vector<std::string>& outputs) {
    std::vector<const Value*> lists;
    RunOptions options;
    options.observe = [&](const Step&, std::size_t, const Value& made) {
      lists.push_back(made.sequence().items.data());
    };
    const auto made = run_plan(*make_plan(model(graph({"x"}, nodes, outputs), 11)), {floats({1})}, options);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(made[i].sequence().items.size(), outputs[i] == "one" ? 1u : 2u) << outputs[i];
    }
    return lists;
  };
  const auto alone = lists_of({"again"});
  EXPECT_EQ(alone, std::vector<const Value*>(3, alone[0]));
  const auto all = lists_of({"two", "one", "again"});
  EXPECT_NE(all[0], all[1]);
  EXPECT_NE(all[1], all[2]);

  const auto [kind, text] = error_of([] {
    const Value empty = Sequence{ValueType::tensor(DType::float32), {}};
    run(model(graph({"s"}, {node("SequenceErase", {"s"}, {"y"})}, {"y"}), 11), {empty});
  });
  EXPECT_NE(text.find("with seq(tensor(float)) of 0: SequenceErase cannot erase"), std::string::npos) << text;
}

TEST(Executor, DoesNotWriteOverAValueThatIsStillNeeded) {
  // Relu may write in place; x is used again afterwards, and the caller keeps its own handle.
  const auto made = model(
      graph({"x"}, {node("Neg", {"x"}, {"n"}), node("Add", {"n", "x"}, {"y"}), node("Relu", {"n"}, {"r"})},
            {"y", "n", "r"}));
  const Value x = floats({1, -2});
  const auto outputs = run(made, {x});
  EXPECT_EQ(as_floats(outputs[0]), (std::vector<float>{0, 0}));
  EXPECT_EQ(as_floats(outputs[1]), (std::vector<float>{-1, 2}));
  EXPECT_EQ(as_floats(outputs[2]), (std::vector<float>{0, 2}));
  EXPECT_EQ(as_floats(x), (std::vector<float>{1, -2}));
}

TEST(Executor, StopsAtTheDeadline) {
  const auto plan = make_plan(declared_model());
  RunOptions options;
  options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(error_of([&] {
              run_plan(*plan, {Tensor::zeros(DType::float32, {2, 1})}, options);
            }).first,
            ErrorKind::limit);
}

TEST(Runner, GivesWhatRunPlanGives) {
  const auto made =
      model(graph({"a", "b"}, {node("Add", {"a", "b"}, {"s"}), node("Relu", {"s"}, {"y"})}, {"y"}));
  const auto plan = make_plan(made);
  Runner runner(plan);
  const std::vector<std::vector<Value>> all_inputs = {
      {floats({1, -2}), floats({3, 1})}, {floats({-1, 5}), floats({3, 1})}, {floats({1}), floats({2})}};
  std::vector<Value> kept;
  for (const auto& inputs : all_inputs) {
    runner.run(inputs);
    EXPECT_EQ(as_floats(runner.output(0)), as_floats(run_plan(*plan, inputs)[0]));
    kept.push_back(runner.output(0));
  }
  // What was copied stays as it was, whatever ran since.
  EXPECT_EQ(as_floats(kept[0]), (std::vector<float>{4, 0}));
  EXPECT_EQ(as_floats(kept[1]), (std::vector<float>{2, 6}));
}

TEST(Runner, InputsStayAsTheyAre) {
  const auto made = model(graph({"a"}, {node("Relu", {"a"}, {"y"})}, {"y"}));
  Runner runner(make_plan(made));
  std::vector<Value> inputs{floats({-1, 2})};
  runner.run(inputs);
  runner.run(inputs);
  EXPECT_EQ(as_floats(inputs[0]), (std::vector<float>{-1, 2}));
  // An output that is fed back is read before it is written over.
  inputs[0] = runner.output(0);
  runner.run(inputs);
  EXPECT_EQ(as_floats(runner.output(0)), (std::vector<float>{0, 2}));
  EXPECT_EQ(as_floats(inputs[0]), (std::vector<float>{0, 2}));
}

TEST(Runner, RunsOnAfterAFailure) {
  const auto made = model(graph({"a", "b"}, {node("Add", {"a", "b"}, {"y"})}, {"y"}));
  Runner runner(make_plan(made));
  const std::vector<Value> wrong{floats({1, 2}), floats({1, 2, 3})}, right{floats({1}), floats({2})};
  EXPECT_THROW(runner.run(wrong), Error);
  runner.run(right);
  EXPECT_EQ(as_floats(runner.output(0)), (std::vector<float>{3}));
  EXPECT_THROW(runner.run(std::vector<Value>{floats({1})}), Error);
}

// Bodies keep a frame with their constants: nothing of a run may be left in it, nor be missing.
TEST(Runner, RunsBodiesAgainAlsoAfterAFailureWithinThem) {
  auto body = graph({"i", "go_on", "before"},
                    {node("Identity", {"go_on"}, {"still"}), node("Add", {"before", "w"}, {"sum"}),
                     node("Mul", {"sum", "two"}, {"after"})},
                    {"still", "after"});
  body.initializers.push_back({"two", Tensor::scalar(2.0f)});
  Runner runner(make_plan(
      model(graph({"n", "x", "w"}, {node("Loop", {"n", "", "x"}, {"y"}, {attr("body", body)})}, {"y"}))));
  const auto run_loop = [&](std::int64_t trips, std::vector<float> w) {
    runner.run(std::vector<Value>{Tensor::scalar(trips), floats({1, 2}), floats(std::move(w))});
    return as_floats(runner.output(0));
  };
  EXPECT_EQ(run_loop(2, {1, 1}), (std::vector<float>{10, 14}));
  EXPECT_THROW(run_loop(2, {1, 1, 1}), Error);
  EXPECT_EQ(run_loop(2, {1, 1}), (std::vector<float>{10, 14}));
  EXPECT_EQ(run_loop(1, {3}), (std::vector<float>{8, 10}));
  EXPECT_EQ(run_loop(0, {3}), (std::vector<float>{1, 2}));
}

// Several steps with values that live side by side, one of them an output.
onnx_io::Model branches() {
  return model(
      graph({"a", "b"},
            {node("Add", {"a", "b"}, {"s"}), node("Exp", {"s"}, {"e"}), node("Mul", {"e", "b"}, {"m"}),
             node("Sub", {"m", "s"}, {"y"}), node("Abs", {"e"}, {"z"})},
            {"y", "z"}));
}

TEST(Runner, PlansItsMemoryWhenShapesStay) {
  const auto plan = make_plan(branches());
  Runner runner(plan);
  const auto inputs_of = [](float first, std::size_t count) {
    return std::vector<Value>{floats(std::vector<float>(count, first)), floats(std::vector<float>(count, 2))};
  };
  std::vector<std::pair<std::vector<Value>, std::vector<Value>>> kept;  // outputs, and what they are to be
  const auto run = [&](float first, std::size_t count) {
    const auto inputs = inputs_of(first, count);
    runner.run(inputs);
    kept.push_back({{runner.output(0), runner.output(1)}, run_plan(*plan, inputs)});
  };
  for (int i = 0; i < 6; ++i) run(static_cast<float>(i), 100);
  EXPECT_GE(runner.planned_bytes(), 400u);
  run(1, 3);
  EXPECT_EQ(runner.planned_bytes(), 0u) << "another shape, another plan";
  for (int i = 0; i < 4; ++i) run(static_cast<float>(i), 50);
  EXPECT_GE(runner.planned_bytes(), 200u);
  EXPECT_THROW(runner.run(std::vector<Value>{floats({1, 2}), floats({1, 2, 3})}), Error);
  for (int i = 0; i < 4; ++i) run(static_cast<float>(i), 50);
  // Every output was copied: none is written over.
  for (const auto& [outputs, expected] : kept) {
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(as_floats(outputs[i]), as_floats(expected[i]));
  }
}

TEST(Runner, OutputsOutliveIt) {
  const auto plan = make_plan(branches());
  const std::vector<Value> inputs{floats({1, -2, 0.5F}), floats({3, 1, 2})};
  std::vector<Value> kept;
  {
    Runner runner(plan);
    for (int i = 0; i < 5; ++i) runner.run(inputs);
    kept = {runner.output(0), runner.output(1)};
  }
  const auto expected = run_plan(*plan, inputs);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(as_floats(kept[i]), as_floats(expected[i]));
}

}  // namespace
}  // namespace grurun::engine
