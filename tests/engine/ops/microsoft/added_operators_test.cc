// Operators of com.microsoft that are compositions: numbers worked out by hand, what they refuse, and the
// outputs that depend on shapes. scripts/compare_microsoft.py holds all of them against onnxruntime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/error.h"
#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

using testing::attr;
using testing::Attributes;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using testing::nan;
using ::testing::Pointwise;
using testing::run_node;

constexpr const char* microsoft = "com.microsoft";

std::vector<float> floats_of(const Value& value) {
  const auto span = value.tensor().span<float>();
  return {span.begin(), span.end()};
}

Tensor row(const std::vector<float>& values) {
  return Tensor::from<float>({1, static_cast<std::int64_t>(values.size())}, values);
}

std::string refusal(const std::string& op, std::vector<Value> inputs, Attributes attributes) {
  try {
    run_node(op, microsoft, 1, std::move(inputs), std::move(attributes));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AddedOperators, SkipLayerNormalizationGivesTheSumToo) {
  const auto made = run_node({.op = "SkipLayerNormalization",
                              .domain = microsoft,
                              .opset = 1,
                              .inputs = {row({1, 2}), row({0, 1}), Tensor::from<float>({2}, {2, 2}), Value(),
                                         Tensor::from<float>({2}, {1, 0})},
                              .attributes = {},
                              .outputs = {true, false, false, true}});
  EXPECT_THAT(floats_of(made[3]), ElementsAre(2, 3));
  EXPECT_THAT(floats_of(made[0]), Pointwise(FloatNear(1e-5F), std::vector<float>{-2, 2}));
}

// One head of one number: scores 2 and 4, less 1000 where the mask hides a key.
TEST(AddedOperators, MultiHeadAttentionAddsToWhatItHides) {
  const auto keys = Tensor::from<float>({1, 2, 1}, {1, 2});
  const auto values = Tensor::from<float>({1, 2, 1}, {10, 20});
  const auto query = Tensor::from<float>({1, 1, 1}, {2});
  const auto attend = [&](const std::vector<std::int32_t>& mask) {
    const auto made =
        run_node("MultiHeadAttention", microsoft, 1,
                 {query, keys, values, Value(), Tensor::from<std::int32_t>({1, 2}, mask)},
                 {attr("num_heads", 1), attr("scale", 1.0F), attr("mask_filter_value", -1000.0F)});
    return floats_of(made[0])[0];
  };
  const float both = (10 * std::exp(2.0F) + 20 * std::exp(4.0F)) / (std::exp(2.0F) + std::exp(4.0F));
  EXPECT_NEAR(attend({1, 1}), both, 1e-5);
  EXPECT_NEAR(attend({1, 0}), 10, 1e-5);
  EXPECT_NEAR(attend({0, 0}), both, 1e-3) << "a query without a key attends to all";
}

// Keys go behind those of each entry, which are one and two.
TEST(AddedOperators, GroupQueryAttentionFillsTheCacheEntryByEntry) {
  const Tensor past = Tensor::from<float>({2, 1, 3, 2}, {1, 1, 0, 0, 0, 0, 1, 1, 2, 2, 0, 0});
  const Tensor now = Tensor::from<float>({2, 1, 2}, {5, 5, 6, 6});
  const auto made = run_node("GroupQueryAttention", microsoft, 1,
                             {now, now, now, past, past, Tensor::from<std::int32_t>({2}, {1, 2}),
                              Tensor::from<std::int32_t>({1}, {3})},
                             {attr("num_heads", 1), attr("kv_num_heads", 1)}, 3);
  EXPECT_THAT(floats_of(made[1]), ElementsAre(1, 1, 5, 5, 0, 0, 1, 1, 2, 2, 6, 6));
  EXPECT_EQ(made[0].tensor().shape(), (Shape{2, 1, 2}));
}

// 0x21 holds 1 and 2; less 8 and times 0.5.
TEST(AddedOperators, MatMulNBitsReadsTheLowBitsFirst) {
  std::vector<float> A(16, 0);
  A[0] = 1, A[1] = 10;
  std::vector<std::uint8_t> B(8, 0x88);
  B[0] = 0x21;
  const auto made =
      run_node("MatMulNBits", microsoft, 1,
               {row(A), Tensor::from<std::uint8_t>({1, 1, 8}, B), Tensor::from<float>({1}, {0.5F})},
               {attr("K", 16), attr("N", 1), attr("block_size", 16)});
  EXPECT_THAT(floats_of(made[0]), ElementsAre(0.5F * (1 - 8) + 10 * 0.5F * (2 - 8)));
}

TEST(AddedOperators, QLinearAddRoundsTheSum) {
  const auto one = [](float value) { return Tensor::from<float>({}, {value}); };
  const auto made = run_node("QLinearAdd", microsoft, 1,
                             {Tensor::from<std::int8_t>({2}, {10, -20}), one(0.5F), Value(),
                              Tensor::from<std::int8_t>({1}, {4}), one(1), Value(), one(1)});
  const auto sums = made[0].tensor().span<std::int8_t>();
  EXPECT_THAT(std::vector<int>(sums.begin(), sums.end()), ElementsAre(9, -6));
}

TEST(AddedOperators, FusedConvAppliesItsFunction) {
  const auto made =
      run_node("FusedConv", microsoft, 1,
               {Tensor::from<float>({1, 1, 3}, {1, -2, 3}), Tensor::from<float>({1, 1, 1}, {2})},
               {attr("activation", "LeakyRelu"), attr("activation_params", std::vector<float>{0.5F})});
  EXPECT_THAT(floats_of(made[0]), ElementsAre(2, -2, 6));
}

TEST(AddedOperators, InputsAreHeldAgainstThePage) {
  const Tensor x = Tensor::from<float>({1, 1, 2}, {1, 2});
  EXPECT_THAT(refusal("NhwcMaxPool", {x}, {attr("kernel_shape", std::vector<std::int64_t>{1})}),
              HasSubstr("input x is tensor(float); NhwcMaxPool-1 admits tensor(int8), tensor(uint8)"));
  EXPECT_THAT(refusal("MultiHeadAttention", {x, x, x}, {attr("num_heads", 3)}),
              HasSubstr("query is [1,1,2]: its last size does not divide by its 3 heads [SHAPE001]"));
}

// The operator that the model names is told, and not only the one of its body.
TEST(AddedOperators, WhatABodyRefusesIsToldOfTheOperator) {
  const Tensor a = Tensor::from<float>({1, 2}, {1, 2}), b = Tensor::from<float>({3, 1}, {1, 2, 3});
  EXPECT_THAT(refusal("FusedMatMul", {a, b}, {}), HasSubstr("node 'node' (com.microsoft.FusedMatMul-1)"));
}

// The body of SkipSimplifiedLayerNormalization makes no mean; exporters name it all the same.
TEST(AddedOperators, NamedOutputsThatNobodyReadsNeedNotBeMade) {
  const testing::OneNode one{.op = "SkipSimplifiedLayerNormalization",
                             .domain = microsoft,
                             .opset = 1,
                             .inputs = {row({3, 4}), row({0, 0}), Tensor::from<float>({2}, {1, 1})},
                             .attributes = {},
                             .outputs = {true, true, false, true}};
  onnx_io::Model model = testing::one_node_model(one);
  try {
    make_plan(model);
    ADD_FAILURE() << "the graph asks for mean";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("output mean of node 'node'"));
  }
  model.graph.outputs.erase(model.graph.outputs.begin() + 1);
  const auto made = run_plan(*make_plan(model), testing::fed_values(one), {});
  EXPECT_THAT(floats_of(made[1]), ElementsAre(3, 4));
}

TEST(AddedOperators, MasksOfOneColumnHideNothing) {
  const Tensor words = Tensor::from<float>({2, 2, 1}, {1, 2, 3, 4});
  const Tensor weights = Tensor::from<float>({1, 3}, {1, 1, 1}), bias = Tensor::from<float>({3}, {0, 1, 2});
  const auto attend = [&](Value mask) {
    return floats_of(run_node("Attention", microsoft, 1, {words, weights, bias, std::move(mask)},
                              {attr("num_heads", 1), attr("rotary_embedding_dim", 32)})[0]);
  };
  const std::vector<float> all = attend(Value());
  EXPECT_EQ(attend(Tensor::from<std::int32_t>({2, 1}, {1, 0})), all);
  EXPECT_EQ(attend(Tensor::from<std::int32_t>({1, 1}, {0})), all);
  EXPECT_EQ(attend(Tensor::from<std::int32_t>({8}, {1, 2, 0, 1, 3, 0, 1, 3})),
            attend(Tensor::from<std::int32_t>({2}, {1, 2})));
  EXPECT_NE(attend(Tensor::from<std::int32_t>({2}, {1, 2})), all);
}

TEST(AddedOperators, LengthsMayStandInAColumn) {
  const Tensor now = Tensor::from<float>({2, 1, 2}, {5, 5, 6, 6});
  const Tensor past = Tensor::from<float>({2, 1, 2, 2}, {1, 1, 2, 2, 3, 3, 4, 4});
  const auto attend = [&](const Shape& shape) {
    const Tensor lasts = Tensor::from<std::int32_t>(shape, {1, 2});
    return floats_of(run_node("GroupQueryAttention", microsoft, 1,
                              {now, now, now, past, past, lasts, Tensor::from<std::int32_t>({1}, {3})},
                              {attr("num_heads", 1), attr("kv_num_heads", 1)})[0]);
  };
  EXPECT_EQ(attend({2, 1}), attend({2}));
}

TEST(AddedOperators, WhatIsNotThereIsZero) {
  const std::vector<std::uint8_t> bytes(16, 0x99);
  const auto gathered =
      floats_of(run_node("GatherBlockQuantized", microsoft, 1,
                         {Tensor::from<std::uint8_t>({2, 8}, bytes),
                          Tensor::from<std::int64_t>({3}, {-1, 2, -3}), Tensor::from<float>({2, 1}, {1, 2})},
                         {attr("block_size", 16)})[0]);
  EXPECT_EQ(gathered[0], 2);
  EXPECT_EQ(gathered[16], 0);
  EXPECT_EQ(gathered[32], 0);
  const auto product =
      run_node("MatMulNBits", microsoft, 1,
               {Tensor::from<float>({1, 16}, std::vector<float>(16, nan)), Tensor(DType::uint8, {0, 1, 8}),
                Tensor::from<float>({2}, {1, 1}), Value(), Value(), Tensor::from<float>({2}, {3, 4})},
               {attr("K", 16), attr("N", 2), attr("block_size", 16)});
  EXPECT_THAT(floats_of(product[0]), ElementsAre(3, 4));
}

TEST(AddedOperators, ShapesThatDoNotFitAreRefusedByTheirPages) {
  const auto of = [](const Shape& shape) { return Tensor::zeros(DType::float32, shape); };
  const Tensor byte = Tensor::scalar(std::uint8_t{1}), bytes = Tensor::zeros(DType::uint8, {2, 3}),
               one = Tensor::scalar(1.F);
  struct Row {
    const char* op_type;
    std::vector<Value> inputs;
    Attributes attributes;
    const char* text;
  };
  const std::vector<Row> rows{
      {"BranchwiseRMSNorm", {of({2, 8}), of({3})}, {attr("num_branches", 2)}, "[4] or [8] or [2,4]"},
      {"BranchwiseRMSNorm", {of({2, 7})}, {attr("num_branches", 2)}, "does not divide"},
      {"HyperConnectionPreMix", {of({3, 2, 4}), of({3, 3})}, {}, "[3,2] or [3,2,1] or [3,2,4]"},
      {"HyperConnectionPostMix", {of({3, 2, 4}), of({3, 1}), of({3, 2})}, {}, "block_output is [3,1]"},
      {"HyperConnectionPostMix", {of({2, 4}), of({4}), of({2}), of({4})}, {}, "must be [2,2]"},
      {"LinearAttentionGate", {of({2, 3, 4}), of({1}), of({4})}, {}, "dt_bias has 1 elements"},
      {"LinearAttentionGate", {of({3, 4}), of({4}), of({4}), of({3, 5})}, {}, "b is [3,5]"},
      {"MoEGroupRouter", {of({3, 8}), of({7})}, {attr("top_k", 2)}, "there are 8 experts"},
      {"MoEGroupRouter", {of({3, 8}), of({8})}, {attr("top_k", 9)}, "top_k is 9"},
      {"GatedRMSNorm", {of({2, 6}), of({4}), of({2, 6})}, {}, "do not divide the 6"},
      {"ScaledSiLU", {of({2, 3}), of({1})}, {}, "ScaledSiLU-1 takes []"},
      {"QLinearAveragePool",
       {Tensor::zeros(DType::uint8, {1, 1, 2, 2}), of({1}), byte, one, byte},
       {attr("kernel_shape", std::vector<std::int64_t>{1, 1})},
       "takes []"},
      {"QGemm",
       {bytes, one, byte, Tensor::zeros(DType::uint8, {3, 4}), of({2}), byte, Value(), one, byte},
       {},
       "one for each column of B"},
      {"MatMulBnb4",
       {of({2, 8}), Tensor::zeros(DType::uint8, {31}), of({2})},
       {attr("K", 8), attr("N", 8), attr("block_size", 32), attr("quant_type", 1)},
       "B has 31 elements, but 8 rows of 8 numbers take 32"},
      {"Pad", {of({2, 3}), Tensor::from<std::int64_t>({3}, {0, 1, 0})}, {}, "pads has 3 entries"},
      {"GatherND", {of({2, 3}), Tensor::zeros(DType::int64, {3})}, {}, "last size of indices is 3"},
      {"ExpandDims", {of({2}), Tensor::scalar(std::int32_t{5})}, {}, "axis 5"},
      {"Range", {Tensor::scalar(std::numeric_limits<float>::quiet_NaN()), one}, {}, "start is NaN"},
  };
  for (const Row& row : rows)
    EXPECT_THAT(refusal(row.op_type, row.inputs, row.attributes), HasSubstr(row.text)) << row.op_type;
}

TEST(AddedOperators, ScalarsAreRefusedInWords) {
  const Tensor scalar = Tensor::scalar(1.F), byte = Tensor::scalar(std::uint8_t{1});
  EXPECT_THAT(refusal("TransposeMatMul", {scalar, scalar}, {attr("transA", 1)}), HasSubstr("invalid"));
  EXPECT_THAT(
      refusal("QLinearGlobalAveragePool", {byte, scalar, byte, scalar, byte}, {attr("channels_last", 1)}),
      HasSubstr("invalid"));
  EXPECT_THAT(refusal("GatherBlockQuantized", {byte, Tensor::scalar(std::int64_t{0}), scalar}, {}),
              HasSubstr("input data is a scalar"));
  EXPECT_THAT(refusal("HyperConnectionPostMix", {scalar, scalar, scalar}, {}),
              HasSubstr("streams is [], but must end with [C,H], as num_branches is not stated"));
  EXPECT_THAT(refusal("HyperConnectionPreMix", {scalar, scalar}, {}),
              HasSubstr("streams is [], but must end with [C,H], as num_branches is not stated"));
  EXPECT_THAT(refusal("BranchwiseRMSNorm", {scalar}, {attr("num_branches", 2)}),
              HasSubstr("X is [], but must end with [C*H]"));
  EXPECT_THAT(refusal("GatedRMSNorm", {scalar, Tensor::from<float>({1}, {1}), scalar}, {}),
              HasSubstr("X is a scalar, but must have an axis"));
}

TEST(AddedOperators, WhatIsNotDoneIsNamed) {
  const Tensor x = Tensor::from<float>({1, 1, 2}, {1, 2}), gate = Tensor::from<float>({1, 1, 1}, {1});
  EXPECT_THAT(refusal("GatedAdd", {x, x, gate, Tensor::from<float>({1, 1}, {1})}, {}),
              HasSubstr("unsupported: node 'node' (com.microsoft.GatedAdd-1)"));
  EXPECT_THAT(
      refusal("MultiHeadAttention",
              {x, x, x, Value(), Value(), Value(), Value(), Value(), Tensor::from<std::int32_t>({1}, {0})},
              {attr("num_heads", 1)}),
      HasSubstr("input 'past_sequence_length' of MultiHeadAttention is not handled"));
  EXPECT_THAT(refusal("FusedConv", {x, x}, {attr("activation", "Swash")}),
              HasSubstr("the activation 'Swash' is not one that is known here"));
}

}  // namespace
}  // namespace grurun::engine
