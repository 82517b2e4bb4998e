// grurun MODEL: where inputs come from, what is printed, saved and compared.
#include <gmock/gmock.h>
#include <onnx/onnx_pb.h>

#include "conformance/version.h"
#include "onnx_io/values/tensor_files.h"
#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

namespace fs = std::filesystem;

Tensor floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::from<float>(shape, values);
}

class Run : public CommandLine {
 protected:
  void SetUp() override {
    write_model("add.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
add (float[batch,2] X, float[batch,2] Y) => (float[batch,2] Z, float[batch,4] J) {
  Z = Add(X, Y)
  J = Concat <axis = 1> (X, Y)
}
)");
    write_model("initialized.onnx", R"(
<ir_version: 3, opset_import: ["" : 14]>
g (float[2] W, float[2] X) => (float[2] Z) <float[2] W = {10, 20}> { Z = Add(W, X) }
)");
    onnx_io::write_npy(path("x.npy"), floats({1, 2}, {1, 2}));
    onnx_io::write_npy(path("y.npy"), floats({1, 2}, {0.5, -4}));
    onnx_io::write_pb(path("x.pb"), "X", floats({1, 2}, {1, 2}));
    onnx_io::write_pb(path("set/input_0.pb"), "X", floats({1, 2}, {1, 2}));
    onnx_io::write_pb(path("set/input_1.pb"), "Y", floats({1, 2}, {0.5, -4}));
    onnx_io::write_values(path("both.npz"),
                          {{"Y", floats({1, 2}, {0.5, -4})}, {"X", floats({1, 2}, {1, 2})}});
    onnx_io::write_values(path("both.json"),
                          {{"Y", floats({1, 2}, {0.5, -4})}, {"X", floats({1, 2}, {1, 2})}});
  }

  Run() { fs::create_directories(folder() / "set"); }
};

constexpr const char* added =
    "Z  tensor(float) [1,2]\n  [[1.5  -2]]\nJ  tensor(float) [1,4]\n  [[  1   2 0.5  -4]]\n";

TEST_F(Run, InputsFromEverySource) {
  const std::vector<std::vector<std::string>> sources = {
      {"x.npy", "y.npy"}, {"x.pb", "y.npy"}, {"X=x.npy", "Y=y.npy"},        {"Y=y.npy", "x.npy"},   {"set"},
      {"both.npz"},       {"both.json"},     {"y.npy", "X=set/input_0.pb"}, {"Y=both.npz", "x.pb"},
  };
  for (std::vector<std::string> source : sources) {
    source.insert(source.begin(), {"add.onnx", "--inputs"});
    const Outcome outcome = grurun(source);
    EXPECT_EQ(outcome.code, 0) << source[2] << ": " << outcome.err;
    EXPECT_EQ(outcome.out, added) << source[2];
    EXPECT_EQ(outcome.err, "") << source[2];
  }
}

TEST_F(Run, AFolderWithoutInputsWillDoForAModelThatNeedsNone) {
  write_model("none.onnx", R"(
<ir_version: 3, opset_import: ["" : 14]>
g (float[2] W) => (float[2] Z) <float[2] W = {10, 20}> { Z = Neg(W) }
)");
  fs::create_directories(folder() / "none");
  onnx_io::write_pb(path("none/output_0.pb"), "Z", floats({2}, {-10, -20}));
  const Outcome outcome = grurun({"none.onnx", "--inputs", "none", "--expected", "none", "-q"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("as expected"));
}

TEST_F(Run, GatesOfLayersWithOneName) {
  write_model("twins.onnx", R"(
<ir_version: 10, opset_import: ["" : 22]>
g (float[2,1,1] X) => (float[a,b,c,d] Y, float[a,b,c,d] Y2, float[a,b,c,d] Y3)
<float[1,3,1] W = {1, 2, 3}, float[1,3,1] R = {3, 2, 1}>
{
  [Y2] Y = GRU <hidden_size = 1> (X, W, R)
  Y2 = GRU <hidden_size = 1> (X, W, R)
  [Y2] Y3 = GRU <hidden_size = 1> (X, W, R)
}
)");
  const Outcome outcome = grurun({"twins.onnx", "--trace-gates", "gates.npz", "-q"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::vector<std::string> names;
  for (const onnx_io::NamedValue& value : onnx_io::read_values(path("gates.npz")))
    names.push_back(value.name);
  EXPECT_THAT(names, ::testing::ElementsAre("Y2.z", "Y2.r", "Y2.h", "Y2.H", "Y2#2.z", "Y2#2.r", "Y2#2.h",
                                            "Y2#2.H", "Y2#3.z", "Y2#3.r", "Y2#3.h", "Y2#3.H"));
}

TEST_F(Run, InitializedInputsAreSkippedUnlessAllAreGiven) {
  const std::string sum = "Z  tensor(float) [2]\n";
  onnx_io::write_npy(path("w.npy"), floats({2}, {1, 1}));
  onnx_io::write_npy(path("v.npy"), floats({2}, {3, 4}));
  EXPECT_EQ(grurun({"initialized.onnx", "--inputs", "v.npy"}).out, sum + "  [13 24]\n");
  EXPECT_EQ(grurun({"initialized.onnx", "--inputs", "w.npy", "v.npy"}).out, sum + "  [4 5]\n");
  EXPECT_EQ(grurun({"initialized.onnx", "--inputs", "W=w.npy", "v.npy"}).out, sum + "  [4 5]\n");
  const Outcome filled = grurun({"initialized.onnx"});
  EXPECT_EQ(filled.err, "grurun: random input X: tensor(float) [2], uniform in [-1, 1], seed 0\n");
}

TEST_F(Run, RandomInputsDependOnTheSeedAlone) {
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"add.onnx", "--full", "--set", "batch=3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = grurun(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome;
  };
  const Outcome first = run({});
  EXPECT_EQ(first.err,
            "grurun: random input X: tensor(float) [3,2], uniform in [-1, 1], seed 0\n"
            "grurun: random input Y: tensor(float) [3,2], uniform in [-1, 1], seed 0\n");
  EXPECT_EQ(run({}).out, first.out);
  EXPECT_EQ(run({"--seed", "0"}).out, first.out);
  EXPECT_NE(run({"--seed", "1"}).out, first.out);
  EXPECT_NE(run({"--val-range", "0:9"}).out, first.out);
}

TEST_F(Run, AGivenInputSizesTheRandomOnes) {
  const Outcome outcome = grurun({"add.onnx", "--inputs", "Y=y.npy", "--seed", "5", "--save-inputs", "used"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "grurun: random input X: tensor(float) [1,2], uniform in [-1, 1], seed 5\n");
  // What was saved gives the same run again.
  const Outcome again = grurun({"add.onnx", "--inputs", "used"});
  EXPECT_EQ(again.out, outcome.out);
  EXPECT_EQ(again.err, "");
}

TEST_F(Run, LengthsAndIndicesStayWithinWhatTheyCount) {
  write_model("gather.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (int64[40] ids) => (float[40] Z) <float[3] table = {0, 10, 20}> { Z = Gather(table, ids) }
)");
  const Outcome outcome = grurun({"gather.onnx", "--save-inputs", "ids.npy", "--val-range", "-100:100"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "grurun: random input ids: tensor(int64) [40], uniform in [0, 2], seed 0\n");
  const Outcome wrong = grurun({"gather.onnx", "--val-range", "ids:3:5"});
  EXPECT_EQ(wrong.code, 3) << wrong.err;
}

TEST_F(Run, SavedOutputsAreExpectedAgain) {
  const std::vector<std::string> run = {"add.onnx", "--inputs", "set", "-q"};
  for (const char* target : {"out", "out.npz", "out.json"}) {
    std::vector<std::string> save = run;
    save.insert(save.end(), {"--save-outputs", target});
    const Outcome saved = grurun(save);
    EXPECT_EQ(saved.code, 0) << target << ": " << saved.err;
    EXPECT_EQ(saved.out, "Z  tensor(float) [1,2]\nJ  tensor(float) [1,4]\n") << target;
    std::vector<std::string> compare = run;
    compare.insert(compare.end(), {"--expected", target});
    const Outcome compared = grurun(compare);
    EXPECT_EQ(compared.code, 0) << target << ": " << compared.out << compared.err;
    EXPECT_NE(compared.out.find("as expected: 4 elements"), std::string::npos) << compared.out;
  }
  EXPECT_TRUE(fs::exists(folder() / "out" / "output_0.pb"));
  EXPECT_TRUE(fs::exists(folder() / "out" / "output_1.pb"));
}

TEST_F(Run, FilesOfAnEarlierRunInAFolderAreToldOf) {
  fs::create_directories(folder() / "out" / "output_7.pb");
  for (const char* name :
       {"output_2.pb", "output_10.pb", "output_00.pb", "output_x.pb", "output_0.npy", "my_output_2.pb"})
    write(std::string("out/") + name, "kept?");
  const Outcome saved = grurun({"add.onnx", "--inputs", "set", "-q", "--save-outputs", "out"});
  EXPECT_EQ(saved.code, 0) << saved.err;
  EXPECT_EQ(saved.err,
            "grurun: out/output_0.npy is not of this run; remove it to make the folder a data set of it\n"
            "grurun: out/output_00.pb is not of this run; remove it to make the folder a data set of it\n"
            "grurun: out/output_10.pb is not of this run; remove it to make the folder a data set of it\n"
            "grurun: out/output_2.pb is not of this run; remove it to make the folder a data set of it\n");
  for (const char* name : {"output_2.pb", "output_10.pb", "output_x.pb"})
    EXPECT_TRUE(fs::exists(folder() / "out" / name)) << name;
  // What was written before by the same names is of this run now.
  EXPECT_EQ(grurun({"add.onnx", "--inputs", "set", "-q", "--save-outputs", "fresh"}).err, "");
  EXPECT_EQ(grurun({"add.onnx", "--inputs", "set", "-q", "--save-outputs", "fresh"}).err, "");
}

TEST_F(Run, DifferencesEndWithOneAndSayWhere) {
  onnx_io::write_npy(path("z.npy"), floats({1, 2}, {1.5, -2.5}));
  const std::vector<std::string> run = {"add.onnx", "--inputs", "set", "--expected", "Z=z.npy"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = run;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return grurun(arguments);
  };
  const Outcome differs = with({});
  EXPECT_EQ(differs.code, 1) << differs.err;
  EXPECT_NE(differs.out.find("differs: 1 of 2 elements"), std::string::npos) << differs.out;
  EXPECT_NE(differs.out.find("[0,1]: -2, expected -2.5"), std::string::npos) << differs.out;
  EXPECT_NE(differs.out.find("not compared: no expected value is given"), std::string::npos) << differs.out;
  EXPECT_EQ(with({"--atol", "0.5"}).code, 0);
  EXPECT_EQ(with({"--rtol", "Z:0.2"}).code, 0);
  EXPECT_EQ(with({"--atol", "0.5", "--atol", "Z:0.1"}).code, 1);
  EXPECT_EQ(with({"--atol", "J:0.5"}).code, 1);
  onnx_io::write_npy(path("z.npy"), floats({2}, {1.5, -2}));
  const Outcome shape = with({});
  EXPECT_EQ(shape.code, 1) << shape.err;
  EXPECT_NE(shape.out.find("[2]"), std::string::npos) << shape.out;
}

TEST_F(Run, SequencesArePrintedSavedAndCompared) {
  write_model("sequence.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[1,2] X, float[1,2] Y) => (seq(float[1,2]) S) { S = SequenceConstruct(X, Y) }
)");
  const std::vector<std::string> run = {"sequence.onnx", "--inputs", "set"};
  for (const char* target : {"out", "out.json", "out.pb"}) {
    std::vector<std::string> save = run;
    save.insert(save.end(), {"--save-outputs", target});
    const Outcome saved = grurun(save);
    EXPECT_EQ(saved.code, 0) << saved.err;
    EXPECT_EQ(saved.out,
              "S  seq(tensor(float)) of 2\n  [0] tensor(float) [1,2]\n    [[1 2]]\n"
              "  [1] tensor(float) [1,2]\n    [[0.5  -4]]\n");
    std::vector<std::string> compare = run;
    compare.insert(compare.end(), {"--expected", target});
    EXPECT_EQ(grurun(compare).code, 0) << target;
  }
  std::vector<std::string> npz = run;
  npz.insert(npz.end(), {"--save-outputs", "out.npz"});
  EXPECT_EQ(grurun(npz).code, 4);
}

TEST_F(Run, AModelNamedLikeASubcommand) {
  write("ops", read("add.onnx"));
  EXPECT_EQ(grurun({"./ops", "--inputs", "set"}).out, added);
  EXPECT_EQ(grurun({"add.onnx", "--inputs", "x.npy", "y.npy", "--save-outputs", "check"}).code, 0);
  EXPECT_TRUE(fs::is_directory(folder() / "check"));
  EXPECT_EQ(grurun({"add.onnx", "--inputs", "set", "--expected", "check"}).code, 0);
}

TEST_F(Run, AnEndlessLoopEndsWithTheTimeLimit) {
  write_model("loop.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g () => (int64 n) <int64 most = {9223372036854775807}, bool yes = {1}, int64 zero = {0}> {
  n = Loop(most, yes, zero) <body = graph (int64 i, bool go, int64 before) => (bool on, int64 after) {
    on = Identity(go)
    after = Identity(before)
  }>
}
)");
  const Outcome outcome = grurun({"loop.onnx", "--max-time", "0.3"});
  EXPECT_TRUE(fails(outcome, 5, "limit", "time"));
}

TEST_F(Run, ATimeLimitThatTheLastNodeBreaksIsOneToo) {
  write_model("product.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[1500,1500] X) => (float[1500,1500] Y) { Y = MatMul(X, X) }
)");
  const Outcome outcome = grurun({"product.onnx", "-q", "--threads", "1", "--max-time", "0.02"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("grurun: limit: "), std::string::npos) << outcome.err;
  EXPECT_EQ(grurun({"product.onnx", "-q", "--max-time", "0"}).code, 0);
}

TEST_F(Run, InputsWithAnInitializerAreNeverFilled) {
  for (const char* flag : {"--input-shapes", "--val-range"}) {
    const char* value = flag[2] == 'i' ? "W:[2]" : "W:5:6";
    const Outcome outcome = grurun({"initialized.onnx", flag, value});
    EXPECT_TRUE(fails(outcome, 2, "usage", "input 'W' has an initializer and is never filled")) << flag;
  }
}

TEST_F(Run, RangesAreKeptAndTold) {
  write_model("kinds.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (int64[2] A, int8[40] B, bool[40] C, float[40] D, string[2] E)
  => (int64[2] a, int8[40] b, bool[40] c, float[40] d, string[2] e) {
  a = Identity(A)
  b = Identity(B)
  c = Identity(C)
  d = Identity(D)
  e = Identity(E)
}
)");
  const Outcome outcome =
      grurun({"kinds.onnx", "--full", "--val-range", "A:9007199254740993:9007199254740993", "--val-range",
              "B:100:1e20", "--val-range", "C:1:1", "--val-range", "D:3e38:1e39"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* line :
       {"A: tensor(int64) [2], uniform in [9007199254740993, 9007199254740993], seed 0\n",
        "B: tensor(int8) [40], uniform in [100, 127], seed 0\n", "C: tensor(bool) [40], true, seed 0\n",
        "D: tensor(float) [40], uniform in [3e+38, 3.4028234663852886e+38], seed 0\n"}) {
    EXPECT_NE(outcome.err.find(line), std::string::npos) << line << outcome.err;
  }
  EXPECT_NE(outcome.out.find("[9007199254740993 9007199254740993]"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("false"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("inf"), std::string::npos) << outcome.out;
  EXPECT_EQ(grurun({"kinds.onnx", "-q", "--val-range", "2:9"}).code, 0) << "bool draws from what it has";
  EXPECT_TRUE(fails(grurun({"kinds.onnx", "--val-range", "E:0:1"}), 2, "usage", "'E' holds strings"));
}

TEST_F(Run, ADimensionWithACommaIsSetAsTheMessageSays) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read("add.onnx")));
  for (auto* values : {model.mutable_graph()->mutable_input(), model.mutable_graph()->mutable_output()}) {
    for (auto& value : *values) {
      value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("r,s");
    }
  }
  write("comma.onnx", model.SerializeAsString());
  EXPECT_TRUE(fails(grurun({"comma.onnx"}), 2, "usage", "give its size as --set r,s=N"));
  const Outcome outcome = grurun({"comma.onnx", "-q", "--set", "r,s=4"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Z  tensor(float) [4,2]\nJ  tensor(float) [4,4]\n");
}

TEST_F(Run, AFolderOfExpectedValuesMustBeComplete) {
  ASSERT_EQ(grurun({"add.onnx", "--inputs", "set", "--save-outputs", "out"}).code, 0);
  fs::remove(folder() / "out" / "output_1.pb");
  Outcome outcome = grurun({"add.onnx", "--inputs", "set", "--expected", "out"});
  EXPECT_TRUE(fails(outcome, 3, "invalid", "out: output 'J' has no file output_1.pb"));
  outcome = grurun({"add.onnx", "--inputs", "set", "--expected", "Z=out/output_0.pb"});
  EXPECT_EQ(outcome.code, 0) << "who names outputs may leave some out: " << outcome.err;
  write_model("optional.onnx",
              R"(<ir_version: 8, opset_import: ["" : 18]> g (float[1] X) => (optional(float[1]) Y) {
    Y = Optional(X)
  })");
  fs::create_directory(folder() / "nothing");
  outcome = grurun({"optional.onnx", "--expected", "nothing"});
  EXPECT_TRUE(fails(outcome, 3, "invalid", "nothing: output 'Y' has no file output_0.pb"));
}

TEST_F(Run, HelpAndVersion) {
  const Outcome help = grurun({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  for (const char* word :
       {"--inputs", "--expected", "--save-outputs", "--val-range", "--max-memory", "ops", "Exit codes"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  for (const char* once : {"--set DIM=N ", "--val-range [X:]LOW:HIGH ", "--rtol [Y:]NUMBER "})
    EXPECT_THAT(help.out, ::testing::HasSubstr(once)) << "one value each time";
  EXPECT_THAT(help.out, ::testing::AllOf(::testing::HasSubstr("--inputs FILE ..."),
                                         ::testing::Not(::testing::HasSubstr("DIM=N ...")),
                                         ::testing::Not(::testing::HasSubstr("NUMBER ..."))));
  const Outcome version = grurun({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, std::string("grurun ") + conformance::version() + "\n");
  const Outcome details = grurun({"-v"});
  EXPECT_EQ(details.code, 0);
  EXPECT_TRUE(details.out.starts_with(version.out + "ONNX ")) << details.out;
  EXPECT_NE(details.out.find("ai.onnx.ml"), std::string::npos) << details.out;
}

// Weights of a GRU of hidden_size 1 as initializers, so that only X is an input.
std::string gru_model(const std::string& attributes, const std::string& weights,
                      const std::string& type_of_Y) {
  return "<ir_version: 8, opset_import: [\"\" : 14]> g (float[time,batch,1] X) => (float" + type_of_Y +
         " Y) <" + weights + "> { [gru] Y = GRU <" + attributes + "> (X, W, R, B) }";
}

constexpr const char* unit_weights =
    "float[1,3,1] W = {1,1,1}, float[1,3,1] R = {1,1,1}, float[1,6] B = {0,0,0,0,0,0.5}";

TEST_F(Run, RefusesALayerThatBreaksARuleOfItsVersion) {
  write_model("bad.onnx", gru_model("hidden_size = 2, clip = -1.0", unit_weights, "[a,b,c,d]"));
  onnx_io::write_npy(path("layer_x.npy"), floats({1, 1, 1}, {1}));
  const Outcome outcome = grurun({"bad.onnx", "--inputs", "layer_x.npy"});
  EXPECT_TRUE(fails(outcome, 3, "invalid", "bad.onnx: node 'graph/gru' (GRU-14): clip is -1"));
  EXPECT_TRUE(fails(outcome, 3, "invalid", "[GRU009], and 1 more: grurun check lists them"));
}

TEST_F(Run, WarningsChangeNothing) {
  write_model("layer.onnx", gru_model("hidden_size = 1", unit_weights, "[time,1,batch,1]"));
  onnx_io::write_npy(path("layer_x.npy"), floats({1, 1, 1}, {1}));
  const Outcome outcome = grurun({"layer.onnx", "--inputs", "layer_x.npy", "-q"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "Y  tensor(float) [1,1,1,1]\n");
  EXPECT_TRUE(
      outcome.err.starts_with("grurun: warning GRU065 node 'graph/gru' (GRU-14, attribute "
                              "linear_before_reset): linear_before_reset is 0, but Rbh in B is not"))
      << outcome.err;
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
}

TEST_F(Run, ValuesAreComparedWithDeclaredAndInferredTypes) {
  write_model("shapes.onnx", R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[n,2] X, float[n,2] Y) => (float[n,3] Z) { Z = Concat <axis = 0> (X, Y) })");
  Outcome outcome = grurun({"shapes.onnx", "--inputs", "x.npy", "y.npy", "-q"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err,
            "grurun: warning SHAPE004: 'Z' is declared tensor(float) [n,3], but tensor(float) [2,2]: 'n' is "
            "1 in 'X'\n");
  outcome = grurun({"shapes.onnx", "--inputs", "x.npy", "y.npy", "-q", "--check"});
  EXPECT_TRUE(fails(outcome, 3, "invalid", "[SHAPE003]")) << outcome.err;
}

}  // namespace
}  // namespace grurun::cli::testing
