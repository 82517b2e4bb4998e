// OpenVINO IRs on the command line: run, check, conformance, and one line for what is wrong.
#include "tests/cli/command_line.h"
#include "tests/onnx_io/ir_text.h"

namespace grurun::cli::testing {
namespace {

class OpenvinoCommand : public CommandLine {
 protected:
  OpenvinoCommand() {
    write("model.xml", ir_.xml());
    write("model.bin", ir_.weights);
    write("x.json", R"({"X": [[1.0, 2.0]], "H": [[0.5]]})");
  }

  static onnx_io::testing::IrText gru() {
    onnx_io::testing::IrText ir;
    const int x = ir.parameter("X", {1, 2});
    const int h = ir.parameter("H", {1, 1});
    const int w = ir.constant<float>("W", {3, 2}, {0, 0, 0, 0, 1, 1});
    const int r = ir.constant<float>("R", {3, 1}, {0, 0, 0});
    const int cell = ir.layer("gru", "GRUCell", "opset3", R"(hidden_size="1" activations="sigmoid, relu")",
                              {x, h, w, r}, {{1, 1}});
    ir.result("Ho", cell);
    return ir;
  }

  void write_changed(const std::string& from, const std::string& to) {
    std::string xml = ir_.xml();
    const std::size_t at = xml.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write("model.xml", xml.replace(at, from.size(), to));
  }

  const onnx_io::testing::IrText ir_ = gru();
};

TEST_F(OpenvinoCommand, RunsAndChecksAnIr) {
  const Outcome run = grurun({"model.xml", "--inputs", "x.json"});
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.code, 0);
  // z = r = sigmoid(0), h = relu(1 + 2): (1 - 0.5) * 3 + 0.5 * 0.5
  EXPECT_EQ(run.out, "Ho  tensor(float) [1,1]\n  [[1.75]]\n");
  const Outcome check = grurun({"check", "model.xml"});
  EXPECT_EQ(check.code, 0);
  EXPECT_EQ(check.out, "model.xml: ok\n");
}

TEST_F(OpenvinoCommand, ACaseMayHaveAnIr) {
  const Outcome made = shell(R"(mkdir -p cases/gru/test_data_set_0 && mv model.xml model.bin cases/gru &&
    "$GRURUN" cases/gru/model.xml --inputs x.json --save-inputs cases/gru/test_data_set_0 --save-outputs cases/gru/test_data_set_0)");
  ASSERT_EQ(made.code, 0) << made.err;
  for (const char* path : {"cases", "cases/gru", "cases/gru/model.xml"}) {
    const Outcome outcome = grurun({"conformance", path});
    EXPECT_EQ(outcome.code, 0) << path << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("1 passed"), std::string::npos) << outcome.out;
  }
}

TEST_F(OpenvinoCommand, WhatIsWrongIsToldInOneLine) {
  const auto run = [&] { return grurun({"model.xml", "--inputs", "x.json"}); };
  write_changed("hidden_size=\"1\"", "hidden_size=\"2\"");
  EXPECT_TRUE(fails(run(), 3, "invalid",
                    "model.xml: layer 'gru' (GRUCell of opset3): input 1 (initial_hidden_state)"));
  write_changed("<layers>", "<layers");
  EXPECT_TRUE(fails(run(), 3, "invalid", "model.xml: no OpenVINO IR: at byte"));
  write_changed("<net", "<!DOCTYPE net><net");
  EXPECT_TRUE(fails(run(), 3, "invalid", "DOCTYPE"));
  write_changed("\"GRUCell\"", "\"TensorIterator\"");
  EXPECT_TRUE(fails(run(), 4, "unsupported", "operator TensorIterator of opset3 is not read"));
  write_changed("version=\"11\"", "version=\"6\"");
  EXPECT_TRUE(fails(run(), 4, "unsupported", "OpenVINO IR version 6; versions 10 and 11 are read"));
  write("model.xml", "<?xml version=\"1.0\"?><svg/>");
  EXPECT_TRUE(fails(run(), 3, "invalid", "the root <svg>"));
  write("model.xml", ir_.xml());
  write("model.bin", ir_.weights.substr(0, 10));
  EXPECT_TRUE(fails(run(), 3, "invalid", "layer 'W' (Const of opset1): external data of 24 bytes"));
  EXPECT_EQ(grurun({"check", "model.xml"}).code, 3);
  shell("rm model.bin");
  EXPECT_TRUE(fails(run(), 3, "invalid", "'model.bin' is not in the model's folder"));
}

}  // namespace
}  // namespace grurun::cli::testing
