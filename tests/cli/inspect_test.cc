// grurun inspect MODEL.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/command_line.h"
#include "tests/places/in_tree.h"

namespace grurun::cli::testing {
namespace {

// The model of docs/inspect.md.
constexpr const char* layer = R"(<ir_version: 8, opset_import: ["" : 14], producer_name: "by hand">
g (float[time,batch,2] X) => (float[time,1,batch,1] Y)
<float[1,3,2] W = {1,2,3,4,5,6}, float[1,3,1] R = {1,2,3}, float[1,6] B = {0,0,0,0,0,1}> {
  [gru] Y = GRU <hidden_size = 1, linear_before_reset = 1> (X, W, R, B)
})";

// A GRU as PyTorch takes it apart, three steps.
std::string unrolled() {
  std::string steps;
  std::string H = "H0";
  for (int t = 0; t < 3; ++t) {
    const std::string n = std::to_string(t);
    steps += "s" + n + " = Squeeze (p" + n + ", zero) xr" + n + ", xz" + n + ", xn" + n +
             " = Split <axis = 1> (s" + n + ") g" + n + " = Gemm <transB = 1> (" + H + ", R, Rb) hr" + n +
             ", hz" + n + ", hn" + n + " = Split <axis = 1> (g" + n + ") ar" + n + " = Add (hr" + n + ", xr" +
             n + ") r" + n + " = Sigmoid (ar" + n + ") az" + n + " = Add (hz" + n + ", xz" + n + ") z" + n +
             " = Sigmoid (az" + n + ") m" + n + " = Mul (hn" + n + ", r" + n + ") an" + n + " = Add (xn" + n +
             ", m" + n + ") c" + n + " = Tanh (an" + n + ") d" + n + " = Sub (" + H + ", c" + n + ") e" + n +
             " = Mul (d" + n + ", z" + n + ") H" + std::to_string(t + 1) + " = Add (e" + n + ", c" + n + ") ";
    H = "H" + std::to_string(t + 1);
  }
  return R"(<ir_version: 8, opset_import: ["" : 14], producer_name: "pytorch">
    g (float[3,batch,1] X, float[batch,1] H0) => (float[batch,1] H3)
    <float[1,3] W = {1,2,3}, float[3] Wb = {0,0,0}, float[3,1] R = {1,2,3}, float[3] Rb = {0,0,0}, int64[1] zero = {0}> {
      q = MatMul(X, W) k = Add(q, Wb) p0, p1, p2 = Split <axis = 0> (k) )" +
         steps + "}";
}

class Inspect : public CommandLine {
 protected:
  void SetUp() override { write_model("layer.onnx", layer); }
};

TEST_F(Inspect, PrintsWhatTheDocumentationShows) {
  std::ifstream file(tests::in_tree("docs/inspect.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const Outcome outcome = grurun({"inspect", "layer.onnx", "--set", "time=10", "--set", "batch=3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(page.find("$ grurun inspect layer.onnx --set time=10 --set batch=3\n" + outcome.out + "```\n"),
            page.npos)
      << outcome.out;
}

TEST_F(Inspect, ShowsTheNameOfEveryDimensionThatARunAsksFor) {
  // A name such as ONNX's inference makes, but declared.
  write_model("unk.onnx", R"(<ir_version: 8, opset_import: ["" : 14]>
g (float[unk__214,3] X) => (float[unk__214,3] Y) { Y = Relu(X) })");
  const Outcome outcome = grurun({"inspect", "unk.onnx"});
  EXPECT_NE(outcome.out.find("    X  tensor(float) [unk__214,3]\n"), outcome.out.npos) << outcome.out;
  EXPECT_NE(outcome.out.find("    Y  tensor(float) [unk__214,3]\n"), outcome.out.npos) << outcome.out;
  const Outcome set = grurun({"inspect", "unk.onnx", "--set", "unk__214=4"});
  EXPECT_NE(set.out.find("    X  tensor(float) [4,3]\n"), set.out.npos) << set.out;
}

TEST_F(Inspect, SeveralSizesInOneValue) {
  const Outcome outcome = grurun({"inspect", "layer.onnx", "--set", "time=10,batch=3"});
  EXPECT_NE(outcome.out.find("    X  tensor(float) [10,3,2]\n"), outcome.out.npos)
      << outcome.out << outcome.err;
}

TEST_F(Inspect, FindsALayerThatWasTakenApart) {
  std::ifstream file(tests::in_tree("docs/inspect.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  write_model("unrolled.onnx", unrolled());
  const Outcome outcome = shell("$GRURUN inspect unrolled.onnx | tail -n 4");
  EXPECT_NE(page.find("$ grurun inspect unrolled.onnx | tail -n 4\n" + outcome.out + "```\n"), page.npos)
      << outcome.out;
  const auto json =
      nlohmann::json::parse(grurun({"inspect", "unrolled.onnx", "--output-format", "json"}).out);
  ASSERT_EQ(json["recurrent_cells"].size(), 1u);
  const auto& gru = json["recurrent_cells"][0];
  EXPECT_EQ(gru["op"], "GRU");
  EXPECT_EQ(gru["kind"], "unrolled");
  EXPECT_EQ(gru["steps"], 3);
  EXPECT_EQ(gru["gate_order"], "rzh");
  EXPECT_EQ(gru["linear_before_reset"], true);
  EXPECT_EQ(gru["direction"], "forward");
  EXPECT_EQ(gru["weight"], "R");
  EXPECT_EQ(json["recurrent_layers"].size(), 0u);
}

TEST_F(Inspect, TellsThatALoopMayEndEarlier) {
  write_model(
      "loop.onnx",
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[10,3,2] X, float[3,2] H) => (float[3,2] Y) "
      "<int64 M = {10}, float zero = {0}, float[2,2] W = {1, 2, 3, 4}, float[2,2] R = {1, 0, 0, 1}> { "
      "Y = Loop (M, , H) <body = b (int64 i, bool c, float[3,2] h) => (bool on, float[3,2] k) { "
      "x = Gather(X, i) xw = MatMul(x, W) hr = MatMul(h, R) a = Add(xw, hr) k = Tanh(a) "
      "s = ReduceSum <keepdims = 0> (k) on = Greater(s, zero) }> }");
  EXPECT_NE(shell("$GRURUN inspect loop.onnx").out.find("RNN as plain operators: Loop of at most 10 steps, "),
            std::string::npos);
  const auto json = nlohmann::json::parse(grurun({"inspect", "loop.onnx", "--output-format", "json"}).out);
  EXPECT_EQ(json["recurrent_cells"].at(0)["steps"], nullptr);
  EXPECT_EQ(json["recurrent_cells"].at(0)["most_steps"], 10);
}

TEST_F(Inspect, TellsAlphaAndBetaOfALayerThatWasTakenApart) {
  std::string model = unrolled();
  for (std::size_t at = 0; (at = model.find("= Sigmoid", at)) != model.npos;)
    model.replace(at, 9, "= HardSigmoid <alpha = 0.25>");
  write_model("hard.onnx", model);
  EXPECT_NE(
      shell("$GRURUN inspect hard.onnx").out.find("activations HardSigmoid (alpha 0.25, beta 0.5), Tanh; "),
      std::string::npos);
  const auto json = nlohmann::json::parse(grurun({"inspect", "hard.onnx", "--output-format", "json"}).out);
  const auto& gru = json["recurrent_cells"].at(0);
  EXPECT_EQ(gru["activations"], nlohmann::json::parse(R"(["HardSigmoid", "Tanh"])"));
  EXPECT_EQ(gru["activation_alpha"], nlohmann::json::parse("[0.25, null]"));
  EXPECT_EQ(gru["activation_beta"], nlohmann::json::parse("[0.5, null]"));
}

TEST_F(Inspect, PrintsJson) {
  const Outcome outcome = grurun({"inspect", "layer.onnx", "--output-format", "json"});
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["producer"], "by hand");
  EXPECT_EQ(json["opsets"]["ai.onnx"], 14);
  EXPECT_EQ(json["inputs"][0]["shape"], nlohmann::json::parse(R"(["time", "batch", 2])"));
  EXPECT_EQ(json["inputs"][0]["initializer"], false);
  EXPECT_EQ(json["outputs"][0]["type"], "tensor(float)");
  EXPECT_EQ(json["operators"]["GRU-14"], 1);
  EXPECT_EQ(json["parameters"]["elements"], 15);
  EXPECT_EQ(json["flops"]["uncounted"]["GRU"], 1);
  const auto& gru = json["recurrent_layers"][0];
  EXPECT_EQ(gru["hidden_size"], 1);
  EXPECT_EQ(gru["input_size"], 2);
  EXPECT_EQ(gru["linear_before_reset"], true);
  EXPECT_EQ(gru["clip"], nullptr);
  EXPECT_FALSE(gru.contains("input_forget"));
}

TEST_F(Inspect, Failures) {
  EXPECT_TRUE(fails(grurun({"inspect", "missing.onnx"}), 2, "usage", "missing.onnx"));
  EXPECT_TRUE(fails(grurun({"inspect", "layer.onnx", "--set", "time"}), 2, "usage", "--set"));
  write("garbage.onnx", "no model");
  EXPECT_TRUE(fails(grurun({"inspect", "garbage.onnx"}), 3, "invalid", "garbage.onnx"));
}

TEST_F(Inspect, EscapesWhatAModelBringsAlong) {
  write_model("named.onnx",
              "<ir_version: 8, opset_import: [\"\" : 14], producer_name: \"a\x1b[2J\"> g (float[2] X) => "
              "(float[2] Y) { Y = Relu(X) }");
  const Outcome outcome = grurun({"inspect", "named.onnx"});
  EXPECT_EQ(outcome.out.find('\x1b'), outcome.out.npos) << outcome.out;
}

}  // namespace
}  // namespace grurun::cli::testing
