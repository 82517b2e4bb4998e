// Inputs that are filled at random beside given ones, and folders as data sets of grurun conformance.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "onnx_io/values/tensor_files.h"
#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

namespace fs = std::filesystem;

class DataSets : public CommandLine {
 protected:
  void SetUp() override {
    write_model("add.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
add (float[n] X, float[n] Y) => (float[n] Z) { Z = Add(X, Y) }
)");
    save("x.npy", {1, 2});
  }

  void save(const std::string& name, const std::vector<float>& values) const {
    onnx_io::write_npy(path(name), Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values));
  }
};

TEST_F(DataSets, EachFlagOfRandomInputsFillsThoseMissing) {
  EXPECT_TRUE(fails(grurun({"add.onnx", "--inputs", "x.npy"}), 2, "usage",
                    "input 'Y' has no value: add it to --inputs, or have it filled at random with --seed N"));
  for (const std::vector<std::string>& flag : {std::vector<std::string>{"--seed", "0"},
                                               {"--val-range", "0:1"},
                                               {"--input-shapes", "Y:[2]"},
                                               {"--set", "n=2"}}) {
    const Outcome outcome = grurun({"add.onnx", "--inputs", "x.npy", "-q", flag[0], flag[1]});
    EXPECT_EQ(outcome.code, 0) << flag[0] << ": " << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::StartsWith("grurun: random input Y: tensor(float) [2]")) << flag[0];
  }
}

TEST_F(DataSets, SavedInputsAndOutputsAreADataSet) {
  write_model("case/model.onnx", R"(
<ir_version: 3, opset_import: ["" : 14]>
g (float[2] V, float[2] X, float[2] W, float[2] Y) => (float[2] Z) <float[2] V = {1, 2}, float[2] W = {10, 20}>
{
  S = Sum(V, X, W)
  Z = Sub(S, Y)
}
)");
  save("v.npy", {7, 8});
  struct Row {
    std::vector<std::string> inputs;
    std::vector<std::string> files;
  };
  const std::vector<Row> table = {
      {{"X=v.npy"}, {"input_0.pb", "input_1.pb"}},
      {{"W=v.npy"}, {"input_0.pb", "input_1.pb", "input_2.pb", "input_3.pb"}},
      {{"V=v.npy", "W=v.npy"}, {"input_0.pb", "input_1.pb", "input_2.pb", "input_3.pb"}},
  };
  for (const Row& row : table) {
    const std::string set = "case/test_data_set_0";
    fs::remove_all(folder() / set);
    std::vector<std::string> arguments = {"case/model.onnx", "--seed", "1",       "--save-inputs", set, "-q",
                                          "--save-outputs",  set,      "--inputs"};
    arguments.insert(arguments.end(), row.inputs.begin(), row.inputs.end());
    EXPECT_EQ(grurun(arguments).code, 0);
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder() / set)) files.push_back(entry.path().filename());
    std::erase(files, "output_0.pb");
    EXPECT_THAT(files, ::testing::UnorderedElementsAreArray(row.files)) << row.inputs[0];
    const Outcome again = grurun({"case/model.onnx", "--inputs", set, "--expected", set, "-q"});
    EXPECT_EQ(again.code, 0) << row.inputs[0] << ": " << again.out << again.err;
    const Outcome judged = grurun({"conformance", "case"});
    EXPECT_EQ(judged.code, 0) << row.inputs[0] << ": " << judged.out << judged.err;
  }
}

TEST_F(DataSets, MayHoldNpyFiles) {
  write("case/model.onnx", read("add.onnx"));
  const std::string set = "case/test_data_set_0";
  fs::create_directories(folder() / set);
  save(set + "/input_0.npy", {1, 2});
  save(set + "/input_1.npy", {3, 4});
  save(set + "/output_0.npy", {4, 6});
  const Outcome outcome = grurun({"add.onnx", "--inputs", set, "--expected", set, "-q"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(grurun({"conformance", "case"}).code, 0);
  save(set + "/output_0.npy", {4, 7});
  const Outcome differs = grurun({"conformance", "case"});
  EXPECT_EQ(differs.code, 1) << differs.err;
  EXPECT_THAT(differs.out, ::testing::HasSubstr("first at [1]: 6, expected 7"));
}

// As grurun conformance does. Without it the initializer would stand for what the file holds.
TEST_F(DataSets, FilesThatMayHaveBeenMeantAsValuesAreNotPassedOver) {
  write_model("model.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[2] X, float[2] W) => (float[2] Z) <float[2] W = {0, 0}> { Z = Add(X, W) }
)");
  fs::create_directories(folder() / "set");
  save("set/input_0.npy", {1, 2});
  save("set/output_0.npy", {1, 2});
  save("set/notes.npy", {1, 2});
  const std::vector<std::string> arguments = {"model.onnx", "--inputs", "set", "--expected", "set"};
  EXPECT_EQ(grurun(arguments).code, 0);
  for (const std::string name : {"input1.npy", "Input_1.npy", "input_1 (1).npy", "output1.npy"}) {
    save("set/" + name, {5, 5});
    const bool is_input = name[0] != 'o';
    EXPECT_TRUE(
        fails(grurun(arguments), 2, "usage",
              fmt::format("{} set/{}: files of a data set are named {}_K.pb, or .npy; rename",
                          is_input ? "--inputs" : "--expected", name, is_input ? "input" : "output")));
    fs::remove(folder() / "set" / name);
  }
  for (const std::string name : {"W.npy", "X.npz", "Z.json"}) {
    save("set/" + name, {5, 5});
    const bool is_input = name[0] != 'Z';
    const std::string value = name.substr(0, 1), flag = is_input ? "--inputs" : "--expected";
    EXPECT_TRUE(
        fails(grurun(arguments), 2, "usage",
              fmt::format("{} set/{}: files of a data set are named {}_K.pb, or .npy; rename it, or give "
                          "it by name: {}=set/{}",
                          flag, name, is_input ? "input" : "output", value, name)));
    EXPECT_EQ(grurun({"bench", "model.onnx", "--inputs", "set"}).code, is_input ? 2 : 0) << name;
    write("case/model.onnx", read("model.onnx"));
    fs::remove_all(folder() / "case/test_data_set_0");
    fs::copy(folder() / "set", folder() / "case/test_data_set_0");
    const Outcome judged = grurun({"conformance", "case"});
    EXPECT_EQ(judged.code, 1) << name;
    EXPECT_THAT(judged.out, ::testing::HasSubstr(name + ": files of a data set are named")) << name;
    fs::remove(folder() / "set" / name);
  }
  save("set/outputs.npy", {5, 5});
  EXPECT_EQ(grurun({"model.onnx", "--inputs", "set"}).code, 0) << "of the flag's own values alone";
}

}  // namespace
}  // namespace grurun::cli::testing
