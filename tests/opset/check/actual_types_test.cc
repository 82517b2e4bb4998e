#include "opset/check/actual_types.h"

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

TEST(ActualTypes, TellAnotherKindAndWhatIsInside) {
  const ValueType floats = ValueType::tensor(DType::float32, SymbolicShape{{3, ""}});
  const ValueType integers = ValueType::tensor(DType::int64);
  const Value tensor = zeros(DType::float32, {3});
  const Value sequence = Sequence{tensor.type(), {tensor}};
  struct Row {
    ValueType inferred;
    const Value& value;
    const char* message;  // nullptr: nothing is found
  };
  const std::vector<Row> table = {
      {ValueType::sequence(floats), sequence, nullptr},
      {ValueType::sequence({}), sequence, nullptr},
      {{}, sequence, nullptr},
      {floats, sequence, "tensor(float) [3], but seq(tensor(float)) of 1: the kind differs"},
      {ValueType::sequence(floats), tensor, "seq(tensor(float)), but tensor(float) [3]: the kind differs"},
      {ValueType::sequence(integers), sequence,
       "seq(tensor(int64)), but seq(tensor(float)) of 1: the type differs"},
  };
  const auto model =
      model_from_text("<ir_version: 8, opset_import: [\"\" : 14]> g (float[3] X) => () { h = Relu(X) }");
  for (const Row& row : table) {
    ActualTypes types(model.graph, {{"h", row.inferred}});
    types.see("h", row.value);
    ASSERT_EQ(types.findings().size(), row.message == nullptr ? 0u : 1u) << row.inferred.describe();
    if (row.message == nullptr) continue;
    EXPECT_THAT(types.findings()[0].message, HasSubstr(row.message));
  }
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
