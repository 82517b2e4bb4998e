// Inputs that no run should be asked to fill at random.
#include <gmock/gmock.h>

#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

class RandomBounds : public CommandLine {
 protected:
  void write_input(const std::string& type) {
    write("m.onnxtxt", "<ir_version: 8, opset_import: [\"\" : 18]> g (" + type +
                           " x) => (float y) "
                           "{ y = Constant <value_float = 1.0> () }");
  }
};

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST_F(RandomBounds, SequencesOfSequencesDoubleWithEachLevel) {
  const auto nested = [](int depth) { return repeated("seq(", depth) + "float[2]" + repeated(")", depth); };
  write_input(nested(3));
  EXPECT_EQ(grurun({"m.onnxtxt", "-q", "--seed", "0"}).code, 0);
  write_input(nested(60));
  EXPECT_TRUE(fails(grurun({"m.onnxtxt", "-q", "--seed", "0"}), 5, "limit", "nested too deep to be filled"));
}

TEST_F(RandomBounds, NoMoreDimensionsThanAFileMayHave) {
  const auto sizes = [](int rank) { return "1" + repeated(",1", rank - 1); };
  write_input("float[" + sizes(64) + "]");
  EXPECT_EQ(grurun({"m.onnxtxt", "-q", "--seed", "0"}).code, 0);
  write_input("float[" + sizes(200'000) + "]");
  EXPECT_TRUE(fails(grurun({"m.onnxtxt", "-q", "--seed", "0"}), 4, "unsupported", "has 200000 dimensions"));
  write_input("float");
  EXPECT_TRUE(fails(grurun({"m.onnxtxt", "-q", "--input-shapes", "x:[" + sizes(65) + "]"}), 2, "usage",
                    "with up to 64 sizes"));
}

}  // namespace
}  // namespace grurun::cli::testing
