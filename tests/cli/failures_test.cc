// Every failure is one line on stderr that names the thing, and the documented exit code.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>
#include <sys/resource.h>
#include <unistd.h>

#include "onnx_io/values/tensor_files.h"
#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

constexpr const char* add_model = R"(
<ir_version: 8, opset_import: ["" : 14]>
add (float[2,3] X, float[2,3] Y) => (float[2,3] Z) { Z = Add(X, Y) }
)";

class Failures : public CommandLine {
 protected:
  void SetUp() override {
    write_model("add.onnx", add_model);
    write_model("named.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
named (float[batch,3] X) => (float[batch,3] Z) { Z = Identity(X) }
)");
    write_model("two_names.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[batch,frames] X, float[batch,mels] Y) => (float[batch,n] Z) { Z = Concat <axis = 1> (X, Y) }
)");
    write_model("no_shape.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[] X) => (float[] Z) { Z = Identity(X) }
)");
    write_model("no_type.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (X) => (float[2] Z) { Z = Neg(X) }
)");
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(read("add.onnx")));
    model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_elem_type();
    write("no_element.onnx", model.SerializeAsString());
    model.set_ir_version(std::int64_t{1} << 40);
    write("ir_version.onnx", model.SerializeAsString());
    write_model("unknown_operator.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[2] X) => (float[2] Z) { Z = NoSuchOperator(X) }
)");
    write_model("custom_domain.onnx", R"(
<ir_version: 8, opset_import: ["" : 14, "com.example" : 1]>
g (float[2] X) => (float[2] Z) { Z = com.example.Mystery(X) }
)");
    write_model("future.onnx", R"(
<ir_version: 8, opset_import: ["" : 9999]>
g (float[2] X) => (float[2] Z) { Z = Identity(X) }
)");
    onnx_io::write_npy(path("x.npy"), Tensor::zeros(DType::float32, {2, 3}));
    onnx_io::write_npy(path("small.npy"), Tensor::zeros(DType::float32, {2, 2}));
    onnx_io::write_npy(path("whole.npy"), Tensor::zeros(DType::int64, {2, 3}));
    const std::string whole = read("add.onnx");
    write("truncated.onnx", whole.substr(0, whole.size() / 2));
    write("text.onnx", "this is no protobuf message\n");
    write("empty.onnx", "");
    write("x_truncated.npy", read("x.npy").substr(0, 90));
    write("folder/readme.txt", "no data set");
    write("bare.json", "[[1, 2, 3], [4, 5, 6]]");
    write("none.json", "{}");
    write("e.txt", "");
    write("golden/output_0.pb", "");
  }
};

TEST_F(Failures, OneLineAndTheDocumentedExitCode) {
  struct Case {
    std::vector<std::string> arguments;
    int code;
    const char* kind;
    const char* fragment;
  };
  const Case cases[] = {
      {{"truncated.onnx"}, 3, "invalid", "truncated.onnx"},
      {{"text.onnx"}, 3, "invalid", "text.onnx"},
      {{"empty.onnx"}, 3, "invalid", "empty.onnx"},
      {{"missing.onnx"}, 2, "usage", "missing.onnx"},
      {{"folder"}, 2, "usage", "folder"},
      {{"unknown_operator.onnx"}, 3, "invalid", "no operator 'NoSuchOperator'"},
      {{"custom_domain.onnx"}, 4, "unsupported", "com.example"},
      {{"future.onnx"}, 4, "unsupported", "9999"},
      {{"add.onnx", "--inputs", "small.npy", "x.npy"},
       3,
       "invalid",
       "'X' must have shape [2,3], but has [2,2]"},
      {{"add.onnx", "--inputs", "whole.npy", "x.npy"}, 3, "invalid", "'X' must be tensor(float)"},
      {{"add.onnx", "--inputs", "x_truncated.npy", "x.npy"}, 3, "invalid", "x_truncated.npy"},
      {{"add.onnx", "--inputs", "missing.npy", "x.npy"}, 2, "usage", "missing.npy"},
      {{"add.onnx", "--inputs", "x.npy"}, 2, "usage", "'Y' has no value"},
      {{"add.onnx", "--inputs", "nowhere"}, 2, "usage", "--inputs nowhere: no such file or folder"},
      {{"add.onnx", "--inputs", "X=nowhere"}, 2, "usage", "nowhere: no such file or folder"},
      {{"add.onnx", "--expected", "nowhere"}, 2, "usage", "--expected nowhere: no such file or folder"},
      {{"add.onnx", "--trace-gates", "g.npz"}, 2, "usage", "has no GRU, LSTM or RNN to trace"},
      {{"add.onnx", "--inputs", "x.npy", "x.npy", "x.npy"}, 2, "usage", "names 3 files"},
      {{"add.onnx", "--inputs", "Q=x.npy"}, 2, "usage", "no input 'Q'"},
      {{"add.onnx", "--inputs", "X=x.npy", "X=x.npy"}, 2, "usage", "'X' already has a value"},
      {{"add.onnx", "--inputs", "folder"}, 2, "usage", "no input_K.pb"},
      {{"add.onnx", "--expected", "Q=x.npy"}, 2, "usage", "no output 'Q'"},
      {{"add.onnx", "--rtol", "1e-3"}, 2, "usage", "--expected"},
      {{"add.onnx", "--expected", "x.npy", "--rtol", "much"}, 2, "usage", "'much'"},
      {{"add.onnx", "--expected", "x.npy", "--atol", "Q:1"}, 2, "usage", "no output 'Q'"},
      {{"add.onnx", "--expected", "x.npy", "--rtol", "1", "--rtol", "2"},
       2,
       "usage",
       "of all outputs is given twice"},
      {{"add.onnx", "--expected", "x.npy", "--atol", "Z:1", "--atol", "Z:2"},
       2,
       "usage",
       "of 'Z' is given twice"},
      {{"named.onnx"}, 2, "usage", "dimension 'batch' is unknown; give its size as --set batch=N"},
      {{"two_names.onnx"}, 2, "usage", "--set batch=N,frames=N,mels=N"},
      {{"two_names.onnx", "--set", "frames=1,batch=2"}, 2, "usage", "--set mels=N"},
      {{"no_shape.onnx"}, 2, "usage", "'X' declares no shape; give it as --input-shapes X:[d0,d1,...]"},
      {{"named.onnx", "--set", "batch"}, 2, "usage", "DIMENSION=SIZE"},
      {{"named.onnx", "--set", "bach=2"}, 2, "usage", "'batch'"},
      {{"named.onnx", "--input-shapes", "X:[2,4]"}, 2, "usage", "does not fit the declared [batch,3]"},
      {{"named.onnx", "--input-shapes", "X:2,x"}, 2, "usage", "NAME:[d0,d1,...]"},
      {{"named.onnx", "--set", "batch=2", "--val-range", "2:1"}, 2, "usage", "LOW:HIGH"},
      {{"add.onnx", "--inputs", "x.npy", "x.npy", "--set", "batch=2"}, 2, "usage", "'batch'"},
      {{"named.onnx", "--input-shapes", "X:[1000000000,3]", "--max-memory", "1M"}, 5, "limit", "memory"},
      {{"add.onnx", "--max-memory", "lots"}, 2, "usage", "'lots'"},
      {{"add.onnx", "--threads", "-1"}, 2, "usage", "--threads"},
      {{"add.onnx", "--frobnicate"}, 2, "usage", "--frobnicate"},
      {{"add.onnx", "second.onnx"}, 2, "usage", "second.onnx"},
      {{"--seed", "1"}, 2, "usage", "no model named"},
      {{}, 2, "usage", "no model named"},
      {{"add.onnx", "--save-outputs", ""}, 2, "usage", "--save-outputs: the value is empty"},
      {{"ir_version.onnx"}, 3, "invalid", "ir_version 1099511627776 is no IR version"},
      {{"inspect", "ir_version.onnx"}, 3, "invalid", "ir_version 1099511627776 is no IR version"},
      {{"add.onnx", "--save-outputs", "-"}, 2, "usage", "standard output is for what is printed"},
      {{"add.onnx", "--save-outputs", "o.txt"}, 2, "usage", "'.txt' is no format of values"},
      {{"add.onnx", "--save-inputs", "./v1.0"}, 2, "usage", "'.0' is no format of values"},
      {{"no_type.onnx"}, 2, "usage", "input 'X' declares no type and cannot be filled at random"},
      {{"no_element.onnx"}, 2, "usage", "input 'X' declares no element type and cannot be filled at random"},
      {{"add.onnx", "--save-outputs=", "--seed", "3"}, 2, "usage", "--save-outputs=: the value is empty"},
      {{"add.onnx", "--max-memory", ""}, 2, "usage", "--max-memory: the value is empty"},
      {{"add.onnx", "--seed", ""}, 2, "usage", "--seed: the value is empty"},
      {{"conformance", "folder", "--json", ""}, 2, "usage", "--json: the value is empty"},
      {{"conformance", "folder", "--max-time", ""}, 2, "usage", "--max-time: the value is empty"},
      {{"bench", "add.onnx", "--trace", ""}, 2, "usage", "--trace: the value is empty"},
      {{"add.onnx", "--max-time", "1e10"}, 2, "usage", "--max-time takes seconds, less than 1e+09"},
      {{"add.onnx", "--max-time", "nan"}, 2, "usage", "--max-time takes seconds"},
      {{"add.onnx", "--max-time", "-1"}, 2, "usage", "--max-time takes seconds"},
      {{"conformance", "folder", "--max-time", "1e10"}, 2, "usage", "--max-time takes seconds"},
      {{"two_names.onnx", "--inputs", "X=x.npy", "--set", "batch=5,mels=1"},
       2,
       "usage",
       "dimension 'batch' is set to 5, but is 2 in the file for input 'X'"},
      {{"two_names.onnx", "--inputs", "X=x.npy", "--input-shapes", "Y:[5,3]"},
       2,
       "usage",
       "dimension 'batch' is set to 5, but is 2 in the file for input 'X'"},
      {{"named.onnx", "--input-shapes", "X:[5,3]", "--input-shapes", "X:[6,3]"},
       2,
       "usage",
       "'X' is given twice"},
      {{"named.onnx", "--set", "batch=1", "--val-range", "0:1", "--val-range", "0:2"},
       2,
       "usage",
       "of all inputs is given twice"},
      {{"add.onnx", "--val-range", "X:0:1", "--val-range", "X:2:3"}, 2, "usage", "of 'X' is given twice"},
      {{"add.onnx", "--save-inputs", "i.npz", "--save-outputs", "./i.npz"},
       2,
       "usage",
       "--save-inputs and --save-outputs both write ./i.npz"},
      {{"add.onnx", "--trace-gates", "i.npz", "--save-outputs", "i.npz"}, 2, "usage", "both write i.npz"},
      {{"conformance", "folder", "--json", "r", "--junit", "r"},
       2,
       "usage",
       "--json and --junit both write r"},
      {{"bench", "add.onnx", "--json", "r", "--trace", "r"}, 2, "usage", "--json and --trace both write r"},
      {{"add.onnx", "--inputs", "x.npy", "x.npy", "--expected", "bare.json", "--save-outputs", "./bare.json"},
       2,
       "usage",
       "--save-outputs ./bare.json would write over what --expected reads"},
      {{"add.onnx", "--inputs", "X=bare.json", "--save-inputs", "bare.json"},
       2,
       "usage",
       "--save-inputs bare.json would write over what --inputs reads"},
      {{"add.onnx", "--expected", "golden", "--save-outputs", "golden"},
       2,
       "usage",
       "--save-outputs golden would write over what --expected reads"},
      {{"add.onnx", "--expected", "Z=golden/output_0.pb", "--save-outputs", "golden"},
       2,
       "usage",
       "--save-outputs golden would write over what --expected reads"},
      {{"bench", "add.onnx", "--json", "add.onnx"},
       2,
       "usage",
       "--json add.onnx would write over what the model reads"},
      {{"conformance", "folder", "--expectations", "e.txt", "--junit", "e.txt"},
       2,
       "usage",
       "--junit e.txt would write over what --expectations reads"},
      {{"add.onnx", "--inputs", "x.npy", "x.npy", "--expected", "none.json"},
       2,
       "usage",
       "--expected none.json: holds no value for an output; the model's are 'Z'"},
      {{"check", "--list-rules", "--output-format", "sarif"},
       2,
       "usage",
       "check --list-rules has no such format"},
      {{"check", "--list-rules", "add.onnx"}, 2, "usage", "--list-rules checks no model"},
      {{"check", "--list-rules", "--select", "ZZZ"}, 2, "usage", "no code begins with 'ZZZ'"},
      {{"future.onnx", "--check"}, 4, "unsupported", "imports opset 9999"},
      {{"add.onnx", "--seed", "-1"}, 2, "usage", "--seed takes a whole number from 0"},
      {{"add.onnx", "--seed", "99999999999999999999"}, 2, "usage", "--seed takes a whole number from 0"},
      {{"conformance", "folder", "--min-cases", "-1"}, 2, "usage", "--min-cases takes a whole number"},
      {{"conformance", "folder", "--min-cases", "0"}, 2, "usage", "--min-cases takes a number from 1"},
      {{"check", "add.onnx", "--output", "json", "--deep"}, 2, "usage", "not expected here: --output --deep"},
      {{"inspect", "named.onnx", "--set", "m=3"},
       2,
       "usage",
       "no input has a dimension 'm'; the named dimensions are 'batch'"},
      {{"schema", "GRU", "--diff", "7", "14", "--opset", "14"}, 2, "usage", "--opset"},
      {{"schema", "GRU", "--diff", "7", "14", "--doc"}, 2, "usage", "--doc"},
      {{"schema", "--diff-opset", "17", "22", "--opset", "14"}, 2, "usage", "--opset"},
      {{"conformance", "folder", "--list", "--json", "r"}, 2, "usage", "--list runs no case"},
      {{"add.onnx", "--inputs", ""}, 2, "usage", "--inputs: the value is empty"},
      {{"add.onnx", "--inputs", "X="}, 2, "usage", "--inputs X=: no file is named"},
      {{"add.onnx", "--inputs", "bare.json"}, 2, "usage", "bare.json: the value has no name"},
      {{"ops", "NoSuchOperator"}, 2, "usage", "NoSuchOperator"},
      {{"ops", "gru"}, 2, "usage", "no operator 'gru' in any version; did you mean 'GRU'?"},
      {{"bench", "add.onnx", "--min-time", "nan"}, 2, "usage", "--min-time takes seconds"},
      {{"add.onnx", "--full", "-q"}, 2, "usage", "--full excludes --quiet"},
      {{"ops", "--format", "xml"}, 2, "usage", "xml"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = grurun(c.arguments);
    std::string line;
    for (const std::string& argument : c.arguments) line += " " + argument;
    Outcome errors = outcome;
    // Filling inputs is announced before the run fails; those lines are no errors.
    while (errors.err.starts_with("grurun: random input ")) errors.err.erase(0, errors.err.find('\n') + 1);
    EXPECT_TRUE(fails(errors, c.code, c.kind, c.fragment)) << "grurun" << line;
  }
}

TEST_F(Failures, UnwritableOutputs) {
  const std::vector<std::string> run = {"add.onnx", "--inputs", "x.npy", "x.npy", "-q", "--save-outputs"};
  write("file", "not a folder");
  for (const char* target :
       {"file", "file/out", "file/out.npz", "none/out.json", "none/out.pb", "none/out.npy"}) {
    std::vector<std::string> arguments = run;
    arguments.push_back(target);
    const Outcome outcome = grurun(arguments);
    EXPECT_EQ(outcome.code, 2) << target;
    EXPECT_TRUE(outcome.err.starts_with("grurun: usage: ")) << target << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(target), std::string::npos) << target << ": " << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << target << ": " << outcome.err;
  }
  EXPECT_EQ(read("file"), "not a folder");
}

TEST_F(Failures, NoControlCharacterOfUnicodeIsPrinted) {
  // U+009B begins a sequence for the terminal as ESC [ does.
  const std::string name = "a\xc2\x9b";
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read("add.onnx")));
  model.mutable_graph()->mutable_output(0)->set_name(name);
  model.mutable_graph()->mutable_node(0)->set_output(0, name);
  model.mutable_graph()->mutable_node(0)->set_name(name);
  write("control.onnx", model.SerializeAsString());
  model.mutable_graph()->mutable_node(0)->set_op_type("Nothing");
  write("bad\xff.onnx", model.SerializeAsString());
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"control.onnx"},
                                             {"bad\xff.onnx"},
                                             {"check", "control.onnx", "bad\xff.onnx"},
                                             {"check", "--output-format", "github", "bad\xff.onnx"},
                                             {"inspect", "control.onnx"},
                                             {"bench", "control.onnx", "--min-time", "0", "--runs", "1"}}) {
    const Outcome outcome = grurun(arguments);
    const std::string text = outcome.out + outcome.err;
    EXPECT_EQ(text.find('\x9b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\xff'), std::string::npos) << text;
  }
}

TEST_F(Failures, NamesFromFilesCannotDriveTheTerminal) {
  write("\x1b[31mred.onnx", "no model");
  const Outcome outcome = grurun({"\x1b[31mred.onnx"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\\x1b[31mred.onnx"), std::string::npos) << outcome.err;
}

TEST_F(Failures, AReaderThatGoesAwayIsNoError) {
  // The shell's status is head's; what matters is that grurun leaves nothing on stderr and does not hang.
  const Outcome outcome = shell("\"$GRURUN\" ops | head -n 1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
}

TEST_F(Failures, AReaderThatGoesAwayChangesNeitherTheVerdictNorWhatIsWritten) {
  onnx_io::write_npy(path("zeros.npy"), Tensor::zeros(DType::float32, {50000, 3}));
  const Outcome outcome = shell(
      "{ \"$GRURUN\" named.onnx --set batch=50000 --full --expected zeros.npy --save-outputs z.npy 2>err\n"
      "echo $? >code; } | head -n 1");
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
  EXPECT_EQ(read("code"), "1\n") << read("err");
  EXPECT_EQ(onnx_io::read_values(path("z.npy")).front().value.tensor().shape(), (Shape{50000, 3}));
}

TEST_F(Failures, AFullDiskBehindStdoutKeepsWhatIsWrittenElsewhere) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full here";
  const Outcome outcome =
      shell("\"$GRURUN\" named.onnx --set batch=50000 --full --save-outputs z.npy >/dev/full");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("grurun: usage: cannot write to stdout: No space left"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(onnx_io::read_values(path("z.npy")).front().value.tensor().shape(), (Shape{50000, 3}));
}

TEST_F(Failures, AnErrorStreamThatCannotBeWrittenChangesNothing) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full here";
  Outcome outcome = shell("\"$GRURUN\" add.onnx -q --save-outputs z.npy 2>/dev/full");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "Z  tensor(float) [2,3]\n");
  EXPECT_EQ(onnx_io::read_values(path("z.npy")).front().value.tensor().shape(), (Shape{2, 3}));
  outcome = shell("\"$GRURUN\" bench add.onnx --min-time 0 --runs 1 2>/dev/full");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.out.starts_with("median")) << outcome.out;
  EXPECT_EQ(shell("\"$GRURUN\" missing.onnx 2>/dev/full").code, 2);
}

TEST_F(Failures, AFullDiskBehindStdoutIsReported) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full here";
  for (const std::string command : {"--help", "check --help", "--version", "--version -v", "-v"}) {
    const Outcome outcome = shell("\"$GRURUN\" " + command + " >/dev/full");
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_TRUE(outcome.err.starts_with("grurun: usage: cannot write to stdout")) << outcome.err;
  }
}

TEST_F(Failures, AReportForAClosedStdoutIsRefused) {
  for (const auto& [command, what] :
       {std::pair<std::string, std::string>{"bench add.onnx --json -", "--json -"},
        {"conformance folder --json -", "--json -"},
        {"conformance folder --junit -", "--junit -"},
        {"conformance folder --list", "--list"},
        {"check add.onnx", "check"},
        {"check --list-rules", "check"},
        {"inspect add.onnx", "inspect"},
        {"schema GRU", "schema"},
        {"ops GRU", "ops"},
        {"--help", "--help"},
        {"-h", "--help"},
        {"check --help", "--help"},
        {"--version", "--version"},
        {"--version -v", "--version"},
        {"-v", "--version"}}) {
    const Outcome outcome = shell("\"$GRURUN\" " + command + " >&-");
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_EQ(outcome.err, "grurun: usage: " + what + ": stdout is closed\n") << command;
  }
}

TEST_F(Failures, AClosedStdoutDoesNotEndUpInAFile) {
  const Outcome outcome = shell("\"$GRURUN\" add.onnx --inputs x.npy x.npy --save-outputs z.npy >&-");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(onnx_io::read_values(path("z.npy")).front().value.tensor().shape(), (Shape{2, 3}));
}

}  // namespace
}  // namespace grurun::cli::testing
