#include "opset/actual_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/opset/model_text.h"

namespace grurun::opset {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Value zeros(DType dtype, const Shape& shape) {
  return Value(Tensor(dtype, shape));
}

TEST(ActualTypes, AgreeWithDeclaredAndInferredOnes) {
  const auto model = model_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[n,3] X) => (float[n,3] Y) { Y = Relu(X) }");
  ActualTypes types(model.graph,
                    {{"Y", ValueType::tensor(DType::float32, SymbolicShape{{{}, "n"}, {3, ""}})}});
  types.see("X", zeros(DType::float32, {2, 3}));
  types.see("Y", zeros(DType::float32, {2, 3}));
  types.see("unknown", zeros(DType::int64, {}));
  EXPECT_THAT(types.findings(), IsEmpty());
}

TEST(ActualTypes, SayWhichSideIsContradicted) {
  const auto model = model_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[n,3] X) => (float[n,4] Y) <float[n] h> { h = "
      "Relu(X) Y = "
      "Relu(X) }");
  ActualTypes types(model.graph, {{"h", ValueType::tensor(DType::float32, SymbolicShape{{2, ""}})}});
  types.see("X", zeros(DType::float32, {2, 3}));
  types.see("h", zeros(DType::float32, {5}));
  types.see("Y", zeros(DType::float32, {2, 3}));
  types.see("Y", zeros(DType::float32, {9, 9}));
  ASSERT_EQ(types.findings().size(), 3u);
  EXPECT_EQ(types.findings()[0].code, "SHAPE004");
  EXPECT_THAT(types.findings()[0].message, HasSubstr("'h' is declared tensor(float) [n], but tensor(float)"));
  EXPECT_THAT(types.findings()[0].message, HasSubstr("'n' is 2 in 'X'"));
  EXPECT_EQ(types.findings()[1].code, "SHAPE005");
  EXPECT_THAT(types.findings()[1].message, HasSubstr("'h' is inferred as tensor(float) [2]"));
  EXPECT_EQ(types.findings()[2].code, "SHAPE004");
  EXPECT_THAT(types.findings()[2].message, HasSubstr("dimension 1 differs"));
  for (const Finding& finding : types.findings()) EXPECT_EQ(finding.severity, Severity::warning);
}

TEST(ActualTypes, WatchWhatIsDeclaredOrInferred) {
  const auto model = model_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[3] X) => (float[3] Y) <float[3] a> { a = Relu(X) "
      "b = "
      "Relu(a) c = Relu(b) Y = Relu(c) }");
  const ActualTypes types(model.graph, {{"b", ValueType::tensor(DType::float32, SymbolicShape{{3, ""}})}});
  for (const char* name : {"X", "Y", "a", "b"}) EXPECT_TRUE(types.watches(name)) << name;
  EXPECT_FALSE(types.watches("c"));
}

TEST(ActualTypes, TellAnotherTypeAndRank) {
  const auto model = model_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[3] X) => (float[3] Y) { Y = Relu(X) }");
  ActualTypes type(model.graph, {});
  type.see("Y", zeros(DType::float64, {3}));
  ASSERT_EQ(type.findings().size(), 1u);
  EXPECT_THAT(type.findings()[0].message, HasSubstr("the type differs"));
  ActualTypes rank(model.graph, {});
  rank.see("Y", zeros(DType::float32, {3, 1}));
  ASSERT_EQ(rank.findings().size(), 1u);
  EXPECT_THAT(rank.findings()[0].message, HasSubstr("the rank differs"));
}

}  // namespace
}  // namespace grurun::opset
