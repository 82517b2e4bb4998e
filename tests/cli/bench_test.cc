// grurun bench: what is measured, and how it is told.
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

using nlohmann::json;

class Bench : public CommandLine {
 protected:
  void SetUp() override {
    write_model("chain.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[batch,8] X) => (float[batch,8] Z) {
  A = Relu(X)
  B = Relu(A)
  Z = Mul(B, B)
}
)");
    write_model("loop.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g () => (int64 n) <int64 most = {5}, bool yes = {1}, int64 zero = {0}> {
  n = Loop(most, yes, zero) <body = graph (int64 i, bool go, int64 before) => (bool on, int64 after) {
    on = Identity(go)
    after = Add(before, i)
  }>
}
)");
  }

  // grurun bench ... --json -, which must print one JSON object and nothing else.
  json bench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "bench");
    arguments.insert(arguments.end(), {"--json", "-", "--min-time", "0"});
    const Outcome outcome = grurun(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const json parsed = json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << outcome.out;
    return parsed.is_object() ? parsed : json::object();
  }
};

TEST_F(Bench, QuantilesAreInOrder) {
  const json result = bench({"chain.onnx", "--input-shapes", "X:[3,8]", "--threads", "1", "--runs", "25"});
  EXPECT_EQ(result.value("runs", 0), 25);
  EXPECT_EQ(result.value("threads", 0), 1);
  double last = 0;
  for (const char* name : {"min_us", "p10_us", "median_us", "p90_us"}) {
    ASSERT_TRUE(result.contains(name)) << name;
    EXPECT_GT(result[name].get<double>(), 0) << name;
    EXPECT_GE(result[name].get<double>(), last) << name;
    last = result[name];
  }
  EXPECT_FALSE(result.contains("operators"));
}

TEST_F(Bench, RunsUntilTheLeastTimeIsOver) {
  const Outcome outcome = grurun({"bench", "chain.onnx", "--set", "batch=1", "--runs", "1", "--min-time",
                                  "0.05", "--json", "result.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("median ")) << outcome.out;
  const json result = json::parse(read("result.json"));
  // A mean times its count is the sum but for rounding.
  EXPECT_GE(result["mean_us"].get<double>() * result["runs"].get<double>(), 0.05e6 - 1);
}

TEST_F(Bench, WorkIsThatOfTheShapesThatRan) {
  write_model("products.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[n,3] A, float[3,k] B) => (float[n,k] Z) {
  Y = MatMul(A, B)
  Z = Mul(Y, Y)
}
)");
  const json result = bench({"products.onnx", "--set", "n=5", "--set", "k=7", "--profile"});
  std::map<std::string, std::pair<double, double>> work;
  for (const json& each : result["operators"]) work[each["op"]] = {each["flops"], each["bytes"]};
  EXPECT_EQ(work, (std::map<std::string, std::pair<double, double>>{
                      {"MatMul-13", {2 * 5 * 3 * 7, 4 * (5 * 3 + 3 * 7 + 5 * 7)}},
                      {"Mul-14", {0, 4 * 2 * 5 * 7}}}));
  EXPECT_GT(result["machine"]["flops"].get<double>(), 0);
  EXPECT_GT(result["machine"]["memory_bandwidth"].get<double>(), 0);
}

TEST_F(Bench, OperatorsWithoutWhatRunsInside) {
  const json chain = bench({"chain.onnx", "--set", "batch=1", "--profile"});
  std::map<std::string, double> calls;
  for (const json& each : chain["operators"]) calls[each["op"]] = each["calls"];
  EXPECT_EQ(calls, (std::map<std::string, double>{{"Relu-14 Relu-14 Mul-14", 1}}));

  const json loop = bench({"loop.onnx", "--profile"});
  calls.clear();
  for (const json& each : loop["operators"]) calls[each["op"]] = each["calls"];
  EXPECT_EQ(calls, (std::map<std::string, double>{{"Loop-13", 1}, {"Identity-14", 5}, {"Add-14", 5}}));
}

TEST_F(Bench, TheTableAndTheTrace) {
  const Outcome outcome =
      grurun({"bench", "loop.onnx", "--min-time", "0", "--runs", "2", "--profile", "--trace", "trace.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\noperator"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nAdd-14 "), std::string::npos) << outcome.out;
  const json events = json::parse(read("trace.json"))["traceEvents"];
  ASSERT_EQ(events.size(), 11u);  // of one run
  const json& whole = events.back();
  EXPECT_EQ(whole["name"], "Loop-13");
  const double begin = whole["ts"], end = begin + whole["dur"].get<double>();
  for (const json& event : events) {
    EXPECT_EQ(event["ph"], "X");
    EXPECT_GE(event["ts"].get<double>(), begin) << event;
    EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(), end + 1e-3) << event;
  }
}

TEST_F(Bench, EveryInstructionSetRuns) {
  const Outcome details = grurun({"--version", "-v"});
  EXPECT_EQ(details.out, grurun({"-v"}).out);
  const std::string label = "Instruction sets: ";
  const std::size_t at = details.out.find(label) + label.size();
  ASSERT_NE(details.out.find(label), std::string::npos) << details.out;
  std::string sets = details.out.substr(at, details.out.find(';', at) - at);
  int count = 0;
  for (std::istringstream rest(sets); std::getline(rest, sets, ',');) {
    const std::string name = sets.substr(sets.find_first_not_of(' '));
    EXPECT_EQ(bench({"chain.onnx", "--set", "batch=2", "--isa", name})["isa"], name);
    ++count;
  }
  EXPECT_GE(count, 1);
  const Outcome wrong = grurun({"bench", "chain.onnx", "--set", "batch=2", "--isa", "mmx"});
  EXPECT_TRUE(fails(wrong, 2, "usage", "no instruction set 'mmx'"));
}

TEST_F(Bench, Failures) {
  EXPECT_TRUE(fails(grurun({"bench", "none.onnx"}), 2, "usage", "none.onnx"));
  EXPECT_TRUE(fails(grurun({"bench", "chain.onnx"}), 2, "usage", "batch"));
  EXPECT_TRUE(fails(grurun({"bench", "loop.onnx", "--runs", "0"}), 2, "usage", "--runs"));
  EXPECT_TRUE(
      fails(grurun({"bench", "loop.onnx", "--trace", "none/trace.json"}), 2, "usage", "none/trace.json"));
}

}  // namespace
}  // namespace grurun::cli::testing
