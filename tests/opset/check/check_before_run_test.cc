#include "opset/check/check_before_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/opset/check_models.h"
#include "tests/opset/recurrent_models.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string of_opset_14 = R"(<ir_version: 8, opset_import: ["" : 14]> g )";

TEST(CheckBeforeRun, JudgesLayersOnly) {
  const auto found = [](const std::string& text) { return check_before_run(model_from_text(text), {}); };
  EXPECT_THAT(found(of_opset_14 + "(float[2] X) => (float[2] Y) { Y = Elu <aplha = 1.0> (X) }").findings,
              IsEmpty());
  const std::string both =
      of_opset_14 + R"((float[5,3,2] X, float[1,12,2] W, float[1,12,4] R) => (float[9] Y, float[3] E) {
    [n] Y = GRU <hidden_size = 4, clip = 0.0> (X, W, R)
    E = Elu <aplha = 1.0> (X)
  })";
  EXPECT_THAT(codes(found(both)), ElementsAre("GRU009")) << "declared shapes are left to the run";
  try {
    require_no_errors(found(both));
    FAIL() << "an error must be thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_model);
    EXPECT_THAT(error.what(), HasSubstr("node 'graph/n' (GRU-14): clip is 0"));
    EXPECT_THAT(error.what(), HasSubstr("[GRU009]"));
  }
}

TEST(CheckBeforeRun, AFedInputHidesItsInitializer) {
  const onnx_io::Model model = model_from_text(of_opset_14 + R"((float[5,3,2] X, int32[3] L)
      => (float[5,1,3,1] Y) <int32[3] L = {9, 9, 9}, float[1,3,2] W = {0,0,0,0,0,0}, float[1,3,1] R = {0,0,0}> {
    Y = GRU <hidden_size = 1> (X, W, R, "", L)
  })");
  EXPECT_THAT(codes(check_before_run(model, {})), ElementsAre("GRU027"));
  EXPECT_THAT(codes(check_before_run(model, {"L"})), IsEmpty());
}

}  // namespace
}  // namespace grurun::opset
