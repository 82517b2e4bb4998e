// What is read is not written over, and no part of a file is left behind.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <set>

#include "onnx_io/values/tensor_files.h"
#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

class KeptFiles : public CommandLine {
 protected:
  void SetUp() override {
    write_model("add.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
add (float[2,3] X, float[2,3] Y) => (float[2,3] Z) { Z = Add(X, Y) }
)");
    write_model("named.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
named (float[batch,3] X) => (float[batch,3] Z) { Z = Identity(X) }
)");
    onnx_io::write_npy(path("x.npy"), Tensor::zeros(DType::float32, {2, 3}));
  }
};

// Its timeline takes some ten thousand bytes.
std::string many_nodes() {
  std::string nodes = "v0 = Relu(X)\n";
  for (int i = 0; i < 100; ++i) nodes += fmt::format("v{} = Softmax(v{})\n", i + 1, i);
  return "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] v100) {\n" + nodes + "}";
}

TEST_F(KeptFiles, AFileThatCannotBeFinishedIsNotLeftBehind) {
  const Outcome outcome =
      shell("ulimit -f 8; \"$GRURUN\" named.onnx --set batch=50000 -q --save-outputs z.npy");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("grurun: usage: cannot write z.npy: File too large"), std::string::npos)
      << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder() / "z.npy"));
  write_model("many.onnx", many_nodes());
  const Outcome bench =
      shell("ulimit -f 8; \"$GRURUN\" bench many.onnx --min-time 0 --runs 1 --trace t.json --json b.json");
  EXPECT_EQ(bench.code, 2);
  EXPECT_NE(bench.err.find("grurun: usage: t.json: the report could not be written"), std::string::npos)
      << bench.err;
  EXPECT_FALSE(std::filesystem::exists(folder() / "t.json"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "b.json"));
  EXPECT_TRUE(bench.out.starts_with("median ")) << bench.out;
  const Outcome reports = shell(R"(mkdir c && cp many.onnx c/model.onnx &&
    "$GRURUN" c/model.onnx -q --save-inputs c/test_data_set_0 --save-outputs c/test_data_set_0 2> log &&
    for i in $(seq 60); do cp -r c/test_data_set_0 c/test_data_set_$i; done &&
    ulimit -f 8 && exec "$GRURUN" conformance c --json r.json --junit r.xml)");
  EXPECT_EQ(reports.code, 2) << reports.err;
  EXPECT_NE(reports.err.find("grurun: usage: r.json: the report could not be written"), std::string::npos)
      << reports.err;
  EXPECT_FALSE(std::filesystem::exists(folder() / "r.json"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "r.xml")) << "short enough, and written all the same";
}

TEST_F(KeptFiles, NoEmptyReportIsLeftBehind) {
  write("old.json", "{}");
  EXPECT_EQ(
      grurun({"bench", "add.onnx", "--max-memory", "1", "--json", "new.json", "--trace", "old.json"}).code,
      5);
  EXPECT_FALSE(std::filesystem::exists(folder() / "new.json"));
  EXPECT_EQ(read("old.json"), "{}") << "no report of grurun";
}

// Whoever reads nothing but the report would take that of a run before for that of the run that failed.
TEST_F(KeptFiles, NoReportOfARunBeforeIsLeftWhereARunFails) {
  ASSERT_EQ(shell(R"(mkdir -p c empty && cp add.onnx c/model.onnx &&
    "$GRURUN" c/model.onnx -q --save-inputs c/test_data_set_0 --save-outputs c/test_data_set_0 2> log)")
                .code,
            0);
  const std::vector<std::pair<const char*, std::vector<std::string>>> commands = {
      {"conformance c --json r.json --junit=r.xml",
       {"--min-cases 2", "empty", "missing", "-k nothing", "--rtol -1", "--no-such-flag", "--max-time",
        "--min-cases=", "--expectations missing", "--list", "--isa none", "--json r.json",
        "--expectations r.json"}},
      {"bench add.onnx --min-time 0 --runs 1 --json r.json --trace r.xml",
       {"--max-memory 1", "--runs 0", "more.onnx", "--inputs missing", "--inputs r.json", "--trace -"}}};
  for (const auto& [command, faults] : commands) {
    const std::string right = fmt::format("\"$GRURUN\" {}", command);
    for (const std::string& fault : faults) {
      ASSERT_EQ(shell(right).code, 0) << right;
      ASSERT_TRUE(std::filesystem::exists(folder() / "r.json") &&
                  std::filesystem::exists(folder() / "r.xml"));
      ASSERT_EQ(shell(right + " --help").code, 0);
      EXPECT_TRUE(std::filesystem::exists(folder() / "r.json")) << "nothing was to be run";
      EXPECT_NE(shell(right + " " + fault).code, 0) << fault;
      // A report that is named a second time would be read, too, and is not lost.
      EXPECT_EQ(std::filesystem::exists(folder() / "r.json"), fault.ends_with("r.json")) << fault;
      EXPECT_FALSE(std::filesystem::exists(folder() / "r.xml")) << fault;
    }
  }
}

TEST_F(KeptFiles, AReportThroughALinkIsRemovedBehindIt) {
  const std::vector<std::string> bench = {"bench",  "add.onnx", "--min-time", "0",
                                          "--runs", "1",        "--json",     "link"};
  std::filesystem::create_symlink("target", folder() / "link");
  ASSERT_EQ(grurun(bench).code, 0);
  ASSERT_TRUE(std::filesystem::is_regular_file(folder() / "target"));
  EXPECT_EQ(grurun({"bench", "missing.onnx", "--json", "link"}).code, 2);
  EXPECT_TRUE(std::filesystem::is_symlink(folder() / "link"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "target"));
  EXPECT_EQ(grurun({"bench", "add.onnx", "--max-memory", "1", "--json", "link"}).code, 5);
  EXPECT_FALSE(std::filesystem::exists(folder() / "target")) << "nor is an empty one made";
}

TEST_F(KeptFiles, ABenchThatIsKilledLeavesNoReport) {
  const auto names = [&] {
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      out.insert(entry.path().filename().string());
    return out;
  };
  const std::set<std::string> before = names();
  const Outcome outcome =
      shell(R"("$GRURUN" bench add.onnx --min-time 100 --json r.json --trace t.json & pid=$!
    sleep 0.5; kill -TERM $pid; wait $pid)");
  EXPECT_EQ(outcome.code, 128 + 15) << outcome.err;
  EXPECT_EQ(names(), before);
}

TEST_F(KeptFiles, AReportGoesToAPipe) {
  const Outcome outcome = shell(
      R"(mkfifo p; cat p > read & "$GRURUN" bench add.onnx --min-time 0 --runs 1 --json p; code=$?; wait; exit $code)");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(read("read").starts_with(R"({"model":"add.onnx")")) << read("read");
}

// Weights of a model, which another file of its folder may hold, above all.
TEST_F(KeptFiles, NoReportTakesThePlaceOfAnotherFile) {
  write("model.bin", "weights");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"bench", "add.onnx", "--json", "model.bin"},
        {"bench", "add.onnx", "--trace", "model.bin"},
        {"conformance", folder().string(), "--junit", "model.bin"}}) {
    EXPECT_EQ(grurun(arguments).code, 2) << arguments[2];
  }
  EXPECT_EQ(read("model.bin"), "weights");
}

TEST_F(KeptFiles, ExternalDataOfTheModelIsNotWrittenOver) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read("add.onnx")));
  onnx::TensorProto* weights = model.mutable_graph()->add_initializer();
  weights->set_name("Y");
  weights->set_data_type(onnx::TensorProto::FLOAT);
  for (const int size : {2, 3}) weights->add_dims(size);
  weights->set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto* location = weights->add_external_data();
  location->set_key("location");
  for (const auto& [file, to] : {std::pair{"w.npy", "w.npy"}, {"output_0.pb", "."}}) {
    location->set_value(file);
    write("external.onnx", model.SerializeAsString());
    const std::string bytes(24, 'w');
    write(file, bytes);
    const Outcome outcome = grurun({"external.onnx", "--inputs", "x.npy", "-q", "--save-outputs", to});
    EXPECT_TRUE(fails(outcome, 2, "usage", "would write over what the model reads")) << outcome.err;
    EXPECT_EQ(read(file), bytes);
  }
}

TEST_F(KeptFiles, WhatAFolderOfInputsHoldsIsNotWrittenOver) {
  ASSERT_EQ(grurun({"add.onnx", "-q", "--seed", "1", "--save-inputs", "set"}).code, 0);
  std::filesystem::create_hard_link(folder() / "set/input_0.pb", folder() / "hard.pb");
  std::filesystem::create_directory(folder() / "out");
  std::filesystem::create_symlink(folder() / "set/input_0.pb", folder() / "out/output_0.pb");
  const std::string first = read("set/input_0.pb"), second = read("set/input_1.pb");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--inputs", "set", "--save-outputs", "set/input_0.pb"},
                                             {"--inputs", "set", "--save-outputs", "hard.pb"},
                                             {"--inputs", "set", "--save-outputs", "out"},
                                             {"--inputs", "set", "--save-inputs", "set"},
                                             {"--inputs", "X=set/input_0.pb", "--save-inputs", "set"}}) {
    std::vector<std::string> all = {"add.onnx", "-q"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_TRUE(fails(grurun(all), 2, "usage", "would write over what --inputs reads")) << arguments.back();
  }
  EXPECT_EQ(read("set/input_0.pb"), first);
  EXPECT_EQ(read("set/input_1.pb"), second);
}

TEST_F(KeptFiles, AFileStaysWhereItsSuccessorCannotBeFinished) {
  for (const char* file : {"z.json", "z.pb", "z.npy", "z.npz"}) {
    write(file, "of before");
    const Outcome outcome = shell(
        fmt::format("ulimit -f 8; \"$GRURUN\" named.onnx --set batch=50000 -q --save-outputs {}", file));
    EXPECT_EQ(outcome.code, 2) << file;
    EXPECT_EQ(read(file), "of before") << file;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    EXPECT_EQ(entry.path().string().find(".new"), std::string::npos) << entry.path();
}

}  // namespace
}  // namespace grurun::cli::testing
