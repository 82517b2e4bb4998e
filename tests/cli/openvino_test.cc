// OpenVINO IRs on the command line: run, check, conformance, and one line for what is wrong.
#include <cmath>

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

  /// An LSTMSequence whose file holds the gates in this order; each gate has weights of its own.
  static onnx_io::testing::IrText lstm(const std::string& order, const std::string& attributes) {
    const auto weights = [&](int columns) {
      std::vector<float> values;
      for (const char gate : order) {
        for (int k = 0; k < 2 * columns; ++k) values.push_back(std::sin(7.0F * static_cast<float>(gate + k)));
      }
      return values;
    };
    onnx_io::testing::IrText ir;
    const int x = ir.parameter("X", {2, 3, 2});
    const int h = ir.constant<float>("H", {2, 1, 2}, {0, 0, 0, 0});
    const int c = ir.constant<float>("C", {2, 1, 2}, {0, 0, 0, 0});
    const int lengths = ir.constant<std::int32_t>("lengths", {2}, {3, 3}, "i32");
    const int w = ir.constant<float>("W", {1, 8, 2}, weights(2));
    const int r = ir.constant<float>("R", {1, 8, 2}, weights(2));
    const int b = ir.constant<float>("B", {1, 8}, weights(1));
    const int sequence =
        ir.layer("lstm", "LSTMSequence", "opset5", R"(hidden_size="2" direction="forward")" + attributes,
                 {x, h, c, lengths, w, r, b}, {{2, 1, 3, 2}, {2, 1, 2}, {2, 1, 2}});
    ir.result("Y", sequence);
    return ir;
  }

  void write_lstm(const std::string& name, const std::string& order, const std::string& attributes) {
    const onnx_io::testing::IrText ir = lstm(order, attributes);
    write(name + ".xml", ir.xml());
    write(name + ".bin", ir.weights);
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

// The page of LSTMSequence has f, i, c, o; the node that is made from it holds them as ONNX does.
TEST_F(OpenvinoCommand, DiagnosisNamesTheOrderOfGatesInTheFile) {
  write("lstm.json", R"({"X": [[[1, 0.5], [-1, 0.25], [0.75, -0.5]], [[-0.25, 1], [0.5, 2], [1, -1]]]})");
  for (const std::string clip : {"", R"( clip="0.5")"}) {
    write_lstm("right", "fico", clip);
    const Outcome right = grurun({"right.xml", "--inputs", "lstm.json", "--save-outputs", "right", "-q"});
    ASSERT_EQ(right.code, 0) << right.err;
    for (const auto& [order, text] :
         {std::pair{"ifco", "gates in i,f,c,o order: W, R, B were not reordered from PyTorch's and Keras's"},
          {"iofc", "gates in i,o,f,c order: W, R, B were not reordered from ONNX's layout"},
          {"ciof", "gates in c,i,o,f order: W, R, B were not brought into OpenVINO's order f,i,c,o"}}) {
      write_lstm("wrong", order, clip);
      const Outcome wrong = grurun({"wrong.xml", "--inputs", "lstm.json", "--expected", "right", "-q"});
      EXPECT_EQ(wrong.code, 1) << wrong.err;
      EXPECT_NE(wrong.out.find(text), std::string::npos) << clip << order << wrong.out;
    }
  }
}

// A file has no attribute layout: what the reader writes is no trap of the file's.
TEST_F(OpenvinoCommand, CheckSaysNothingOfTheLayout) {
  write_lstm("lstm", "fico", "");
  EXPECT_EQ(grurun({"check", "lstm.xml"}).out, "lstm.xml: ok\n");
}

// A ModelProto must declare ranks, an IR need not.
TEST_F(OpenvinoCommand, CheckTakesValuesOfUnknownRank) {
  onnx_io::testing::IrText ir;
  const int x = ir.layer("X", "Parameter", "opset1", R"(element_type="f32" shape="...")", {}, {{}});
  ir.result("Y", ir.layer("relu", "ReLU", "opset1", "", {x}, {{}}));
  write("open.xml", ir.xml());
  EXPECT_EQ(grurun({"check", "open.xml"}).out, "open.xml: ok\n");
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
