// grurun MODEL --precise, --trace-gates and the lines that begin with "why:".
#include <gmock/gmock.h>

#include "onnx_io/values/tensor_files.h"
#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Reasons : public CommandLine {
 protected:
  std::vector<float> value_in(const std::string& file, const std::string& name) const {
    for (const onnx_io::NamedValue& value : onnx_io::read_values(path(file))) {
      if (value.name != name) continue;
      const Tensor& tensor = value.value.tensor();
      if (tensor.dtype() != DType::float64) return {tensor.span<float>().begin(), tensor.span<float>().end()};
      std::vector<float> narrow;
      for (const double each : tensor.span<double>()) narrow.push_back(static_cast<float>(each));
      return narrow;
    }
    ADD_FAILURE() << file << " has no " << name;
    return {};
  }
};

// The layer needs the second random value alone; the first one draws the seed before it.
constexpr const char* random_layer = R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[1,1,1] Z) => (float[1,1,1] other, float[a,b,c,d] Y)
<float[1,3,1] W = {1, 1, 1}, float[1,3,1] R = {1, 1, 1}>
{
  other = RandomNormalLike (Z)
  X = RandomNormalLike (Z)
  [layer] Y = GRU <hidden_size = 1ATTRIBUTES> (X, W, R)
}
)";

std::string layer_with(const std::string& attributes) {
  std::string text = random_layer;
  return text.replace(text.find("ATTRIBUTES"), 10, attributes);
}

TEST_F(Reasons, RandomOperatorsDrawWhatTheyDrewInTheRun) {
  write_model("layer.onnx", layer_with(""));
  write_model("clipped.onnx", layer_with(", clip = 0.1"));
  for (const char* seed : {"0", "4"}) {
    const Outcome traced = grurun({"layer.onnx", "--seed", seed, "-q", "--precise", "--trace-gates",
                                   "gates.npz", "--save-outputs", "out.npz"});
    ASSERT_EQ(traced.code, 0) << traced.err;
    EXPECT_THAT(traced.out, Not(HasSubstr("e+"))) << "--precise computes other values with seed " << seed;
    const float Y = value_in("out.npz", "Y").at(0);
    EXPECT_NEAR(value_in("gates.npz", "layer.H").at(0), Y, 1e-6) << "seed " << seed;
    const Outcome explained = grurun({"clipped.onnx", "--seed", seed, "-q", "--expected", "Y=out.npz"});
    EXPECT_EQ(explained.code, 1);
    EXPECT_THAT(explained.out, HasSubstr("why: node 'layer' (GRU-14): ")) << explained.err;
    EXPECT_THAT(explained.out, HasSubstr("reproduced")) << "seed " << seed;
  }
}

// The other output agrees, and its values say nothing of this one.
TEST_F(Reasons, AnotherElementTypeNeedsNoReason) {
  write_model("layer.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[1,1,1] X) => (float[a,b,c,d] Y, float[a,b,c] Y_h)
<float[1,3,1] W = {1, 1, 1}, float[1,3,1] R = {1, 1, 1}>
{ Y, Y_h = GRU <hidden_size = 1> (X, W, R) }
)");
  ASSERT_EQ(grurun({"layer.onnx", "-q", "--save-outputs", "out.npz"}).code, 0);
  const std::vector<float> Y = value_in("out.npz", "Y");
  onnx_io::write_npy(path("y.npy"), Tensor::from(Shape{1, 1, 1, 1}, std::vector<double>{double(Y.at(0))}));
  const Outcome outcome = grurun({"layer.onnx", "-q", "--expected", "Y=y.npy", "Y_h=out.npz"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("element type float, expected double"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("why:")));
}

TEST_F(Reasons, WhatCannotBeJudgedLeavesTheVerdict) {
  write_model("bits.onnx", R"(
<ir_version: 13, opset_import: ["" : 26]>
g (float[2] X) => (float[2] Y)
{
  bits = BitCast <to = 6> (X)
  Y = Cast <to = 1> (bits)
}
)");
  const char* reason = "grurun: unsupported: the model cannot be computed in double precision: ";
  onnx_io::write_npy(path("y.npy"), Tensor::from(Shape{2}, std::vector<float>{7, 7}));
  const Outcome differs =
      grurun({"bits.onnx", "--expected", "y.npy", "--precise", "-q", "--save-outputs", "o"});
  EXPECT_EQ(differs.code, 1);
  EXPECT_THAT(differs.err, HasSubstr(reason));
  EXPECT_TRUE(std::filesystem::exists(folder() / "o" / "output_0.pb"));
  const Outcome alone = grurun({"bits.onnx", "--precise", "-q"});
  EXPECT_EQ(alone.code, 4);
  EXPECT_THAT(alone.err, HasSubstr(reason));
}

TEST_F(Reasons, NothingToBeJudgedIsSaidForTheReasonThatItHas) {
  write_model("whole.onnx", R"(
<ir_version: 8, opset_import: ["" : 13]>
g (int64[2] X) => (int64[2] Y) { Y = Neg (X) }
)");
  const Outcome outcome = grurun({"whole.onnx", "--precise", "-q"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("--precise tells nothing here: no output is a tensor of float"));
}

}  // namespace
}  // namespace grurun::cli::testing
