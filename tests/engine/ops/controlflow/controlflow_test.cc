#include <gtest/gtest.h>

#include "tests/engine/graph/model_building.h"

namespace grurun::engine {
namespace {

using namespace testing;

Value boolean(bool value) {
  return Tensor::scalar(value);
}
Value int64(std::int64_t value) {
  return Tensor::scalar(value);
}

TEST(If, RunsTheBranchThatCondChoosesWithNamesFromOutside) {
  const auto made =
      model(graph({"cond", "x"},
                  {node("If", {"cond"}, {"y"},
                        {attr("then_branch", graph({}, {node("Add", {"x", "x"}, {"t"})}, {"t"})),
                         attr("else_branch", graph({}, {node("Neg", {"x"}, {"e"})}, {"e"}))})},
                  {"y"}));
  EXPECT_EQ(as_floats(run(made, {boolean(true), floats({3})})[0]), std::vector<float>{6});
  EXPECT_EQ(as_floats(run(made, {boolean(false), floats({3})})[0]), std::vector<float>{-3});
}

TEST(If, SeesNamesThroughTwoScopes) {
  const auto inner = graph({}, {node("Add", {"x", "outer"}, {"s"})}, {"s"});
  const auto middle =
      graph({},
            {node("Neg", {"x"}, {"outer"}),
             node("If", {"cond"}, {"m"}, {attr("then_branch", inner), attr("else_branch", inner)})},
            {"m"});
  const auto made = model(graph(
      {"cond", "x"},
      {node("If", {"cond"}, {"y"}, {attr("then_branch", middle), attr("else_branch", middle)})}, {"y"}));
  EXPECT_EQ(as_floats(run(made, {boolean(true), floats({3})})[0]), std::vector<float>{0});
}

// state' = state + i as float; emits state'. Goes on while cond_in.
onnx_io::Graph counting_body() {
  return graph({"i", "cond_in", "state"},
               {node("Cast", {"i"}, {"f"}, {attr("to", 1)}), node("Add", {"state", "f"}, {"next"}),
                node("Identity", {"next"}, {"emitted"}), node("Identity", {"cond_in"}, {"cond_out"})},
               {"cond_out", "next", "emitted"});
}

TEST(Loop, CarriesStateAndStacksWhatItEmits) {
  const auto made = model(
      graph({"M", "s"}, {node("Loop", {"M", "", "s"}, {"final", "all"}, {attr("body", counting_body())})},
            {"final", "all"}));
  const auto outputs = run(made, {int64(4), floats({1})});
  EXPECT_EQ(as_floats(outputs[0]), std::vector<float>{7});
  EXPECT_EQ(as_floats(outputs[1]), (std::vector<float>{1, 2, 4, 7}));
  EXPECT_EQ(outputs[1].tensor().shape(), (Shape{4, 1}));
}

// state' = state + state; cond_out = not cond_in, so that it is false, true, false, ... after a first true.
onnx_io::Graph alternating_body() {
  return graph({"i", "cond_in", "state"},
               {node("Not", {"cond_in"}, {"cond_out"}), node("Add", {"state", "state"}, {"next"}),
                node("Identity", {"cond_in"}, {"seen"})},
               {"cond_out", "next", "seen"});
}

TEST(Loop, WithoutCondIgnoresWhatTheBodyReturnsForIt) {
  const auto nodes = [](const char* cond) {
    return std::vector{node("Loop", {"M", cond, "s"}, {"final", "seen"}, {attr("body", alternating_body())})};
  };
  for (const std::int64_t opset : {11, 13, 16, 19, 21, 23, 24, 25}) {
    const auto counted =
        run(model(graph({"M", "s"}, nodes(""), {"final", "seen"}), opset), {int64(4), floats({1})});
    EXPECT_EQ(as_floats(counted[0]), std::vector<float>{16}) << opset;
    const auto seen = counted[1].tensor().span<bool>();
    EXPECT_EQ(std::vector<bool>(seen.begin(), seen.end()), (std::vector<bool>{true, false, true, false}));
    const auto ended = run(model(graph({"M", "c", "s"}, nodes("c"), {"final", "seen"}), opset),
                           {int64(4), boolean(true), floats({1})});
    EXPECT_EQ(as_floats(ended[0]), std::vector<float>{2}) << opset;
  }
}

TEST(Loop, CarriesWhatTheBodyTakesAsOptional) {
  auto body = graph({"i", "cond_in", "state"},
                    {node("OptionalHasElement", {"state"}, {"has"}),
                     node("OptionalGetElement", {"state"}, {"s"}), node("Add", {"s", "s"}, {"next"})},
                    {"cond_in", "next", "has"});
  body.inputs[2].type = ValueType::optional(ValueType::tensor(DType::float32));
  const auto made =
      model(graph({"M", "s"},
                  {node("Optional", {"s"}, {"o"}),
                   node("Loop", {"M", "", "o"}, {"final", "has"}, {attr("body", std::move(body))})},
                  {"final", "has"}),
            16);
  const auto outputs = run(made, {int64(3), floats({1})});
  EXPECT_EQ(as_floats(outputs[0]), std::vector<float>{8});
  EXPECT_EQ(outputs[1].tensor().shape(), (Shape{3}));
}

TEST(Loop, ACondOfAnotherTypeIsRefused) {
  const auto body = graph({"i", "c", "s"}, {node("Identity", {"i"}, {"d"})}, {"d", "s"});
  const auto [kind, text] = error_of([&] {
    run(model(graph({"M", "x"}, {node("Loop", {"M", "", "x"}, {"y"}, {attr("body", body)})}, {"y"})),
        {int64(3), floats({1})});
  });
  EXPECT_EQ(kind, ErrorKind::invalid_model);
  EXPECT_NE(text.find("the body's cond must hold one bool, but is tensor(int64) []"), std::string::npos)
      << text;
}

TEST(Loop, WithoutTripsAndCondEndsByWhatTheBodyReturns) {
  for (const std::int64_t opset : {11, 13, 16, 19, 21, 23, 24, 25}) {
    const auto outputs =
        run(model(graph({"s"},
                        {node("Loop", {"", "", "s"}, {"final", "seen"}, {attr("body", alternating_body())})},
                        {"final", "seen"}),
                  opset),
            {floats({1})});
    EXPECT_EQ(as_floats(outputs[0]), std::vector<float>{2}) << opset;
    EXPECT_EQ(outputs[1].tensor().size(), 1) << opset;
  }
}

TEST(Loop, ZeroOrNegativeTripsLeaveTheStateAndEmitNothing) {
  auto body = counting_body();
  body.outputs[2].type = ValueType::tensor(DType::float32, SymbolicShape{{1, ""}});
  const auto made = model(graph(
      {"M", "s"}, {node("Loop", {"M", "", "s"}, {"final", "all"}, {attr("body", body)})}, {"final", "all"}));
  for (const std::int64_t trips : {std::int64_t{0}, std::int64_t{-5}}) {
    const auto outputs = run(made, {int64(trips), floats({1})});
    EXPECT_EQ(as_floats(outputs[0]), std::vector<float>{1});
    EXPECT_EQ(outputs[1].tensor().shape(), (Shape{0, 1}));
  }
}

TEST(Loop, CountsTripsWithoutACondAndWithoutState) {
  const auto body =
      graph({"i", "cond_in"},
            {node("Identity", {"cond_in"}, {"cond_out"}), node("Cast", {"i"}, {"emitted"}, {attr("to", 1)})},
            {"cond_out", "emitted"});
  for (const int opset : {11, 13, 16, 21, 23}) {
    const auto made =
        model(graph({"M"}, {node("Loop", {"M", ""}, {"all"}, {attr("body", body)})}, {"all"}), opset);
    EXPECT_EQ(as_floats(run(made, {int64(3)})[0]), (std::vector<float>{0, 1, 2})) << opset;
  }
}

TEST(Loop, WithoutAnEndStopsAtTheIterationLimit) {
  const auto made = model(graph(
      {"c", "s"}, {node("Loop", {"", "c", "s"}, {"final", ""}, {attr("body", counting_body())})}, {"final"}));
  RunOptions options;
  options.max_iterations = 1000;
  const auto plan = make_plan(made);
  EXPECT_EQ(error_of([&] {
              run_plan(*plan, {boolean(true), floats({1})}, options);
            }).first,
            ErrorKind::limit);
}

TEST(Scan, WalksAxesInBothDirections) {
  // sum' = sum + element; emits sum'. Over axis 1 from the end, output prepended.
  const auto body =
      graph({"sum", "element"},
            {node("Add", {"sum", "element"}, {"next"}), node("Identity", {"next"}, {"emitted"})},
            {"next", "emitted"});
  const auto made = model(graph({"s", "x"},
                                {node("Scan", {"s", "x"}, {"final", "all"},
                                      {attr("body", body), attr("num_scan_inputs", 1),
                                       attr("scan_input_axes", std::vector<std::int64_t>{-1}),
                                       attr("scan_input_directions", std::vector<std::int64_t>{1}),
                                       attr("scan_output_directions", std::vector<std::int64_t>{1}),
                                       attr("scan_output_axes", std::vector<std::int64_t>{1})})},
                                {"final", "all"}));
  const Value x = Tensor::from(Shape{1, 3}, std::vector<float>{1, 2, 4});
  const auto outputs = run(made, {floats({0}), x});
  EXPECT_EQ(as_floats(outputs[0]), std::vector<float>{7});
  EXPECT_EQ(outputs[1].tensor().shape(), (Shape{1, 3}));
  EXPECT_EQ(as_floats(outputs[1]), (std::vector<float>{7, 6, 4}));
}

TEST(Scan8, PadsRowsBeyondTheirLength) {
  const auto body =
      graph({"sum", "element"},
            {node("Add", {"sum", "element"}, {"next"}), node("Identity", {"next"}, {"emitted"})},
            {"next", "emitted"});
  auto made = model(graph({"lens", "s", "x"},
                          {node("Scan", {"lens", "s", "x"}, {"final", "all"},
                                {attr("body", body), attr("num_scan_inputs", 1)})},
                          {"final", "all"}),
                    8);
  const auto outputs = run(made, {Tensor::from(Shape{2}, std::vector<std::int64_t>{3, 1}),
                                  Tensor::from(Shape{2, 1}, std::vector<float>{0, 10}),
                                  Tensor::from(Shape{2, 3, 1}, std::vector<float>{1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(as_floats(outputs[0]), (std::vector<float>{6, 14}));
  EXPECT_EQ(outputs[1].tensor().shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(as_floats(outputs[1]), (std::vector<float>{1, 3, 6, 14, 0, 0}));
}

}  // namespace
}  // namespace grurun::engine
