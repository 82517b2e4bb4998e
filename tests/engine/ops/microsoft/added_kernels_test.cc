// Operators of com.microsoft that have kernels of their own: numbers worked out by hand, and what they
// refuse. scripts/compare_microsoft.py holds all of them against onnxruntime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/microsoft/timestamps.h"
#include "tensor/error.h"
#include "tests/engine/one_node.h"
#include "tests/opset/model_text.h"

namespace grurun::engine {
namespace {

using testing::attr;
using testing::Attributes;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;
using testing::run_node;

std::vector<Value> run_added(const std::string& op, std::vector<Value> inputs, Attributes attributes = {},
                             std::size_t outputs = 1) {
  return run_node(op, "com.microsoft", 1, std::move(inputs), std::move(attributes), outputs);
}

std::string why_added(const std::string& op, std::vector<Value> inputs, Attributes attributes = {},
                      std::size_t outputs = 1) {
  try {
    run_added(op, std::move(inputs), std::move(attributes), outputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

template <typename T>
std::vector<T> elements_held(const Value& value) {
  const auto span = value.tensor().span<T>();
  return {span.begin(), span.end()};
}

Tensor text_row(const std::vector<std::string>& texts) {
  return Tensor::from<std::string>({std::ssize(texts)}, texts);
}

Tensor id_row(const std::vector<std::int64_t>& numbers) {
  return Tensor::from<std::int64_t>({std::ssize(numbers)}, numbers);
}

Attributes token_attributes(Attributes more, std::int64_t mark = 0, std::int64_t least = 1) {
  more.push_back(attr("mark", mark)), more.push_back(attr("mincharnum", least));
  more.push_back(attr("pad_value", "#"));
  return more;
}

TEST(AddedKernels, TokenizerPartsAtSeparatorsOneAfterTheOther) {
  const auto separators = attr("separators", std::vector<std::string>{" ", ",+"});
  EXPECT_THAT(elements_held<std::string>(
                  run_added("Tokenizer", {text_row({"a b,,c", " d"})}, token_attributes({separators}))[0]),
              ElementsAre("a", "b", "c", "d", "#", "#"));
  const auto marked = run_added("Tokenizer", {text_row({"a bc"})}, token_attributes({separators}, 1, 2));
  EXPECT_THAT(elements_held<std::string>(marked[0]), ElementsAre("\x02", "bc", "\x03"));
}

TEST(AddedKernels, TokenizerFindsTokensAndCharacters) {
  const auto words = attr("tokenexp", "a|ab");
  EXPECT_THAT(
      elements_held<std::string>(run_added("Tokenizer", {text_row({"xabya"})}, token_attributes({words}))[0]),
      ElementsAre("ab", "a"))
      << "the longest match wins";
  const auto each = attr("separators", std::vector<std::string>{""});
  EXPECT_THAT(
      elements_held<std::string>(run_added("Tokenizer", {text_row({"é."})}, token_attributes({each}))[0]),
      ElementsAre("é", "."));
  EXPECT_EQ(run_added("Tokenizer", {text_row({""})}, token_attributes({each}))[0].tensor().shape(),
            Shape({1, 0}));
  EXPECT_THAT(why_added("Tokenizer", {text_row({"a"})}, token_attributes({attr("tokenexp", "(")})),
              HasSubstr("RE2"));
  EXPECT_THAT(why_added("Tokenizer", {text_row({"\xff"})}, token_attributes({words})), HasSubstr("UTF-8"));
}

// The numbers of its author's verification, and of a text of one block and a rest.
TEST(AddedKernels, MurmurHash3HashesBytes) {
  const auto of = [](Value x, Attributes attributes) {
    return elements_held<std::uint32_t>(
        run_added("MurmurHash3", {std::move(x)}, std::move(attributes))[0])[0];
  };
  EXPECT_EQ(of(text_row({""}), {}), 0u);
  EXPECT_EQ(of(text_row({""}), {attr("seed", 1)}), 0x514e28b7u);
  EXPECT_EQ(of(text_row({"hello"}), {}), 0x248bfa47u);
  EXPECT_EQ(elements_held<std::int32_t>(
                run_added("MurmurHash3", {text_row({"hello"})}, {attr("positive", 0)})[0])[0],
            0x248bfa47);
}

// Bigrams of 3, 5, 7 with multipliers 1 and 10; 0 stands before them: 3 ^ 0, 5 ^ 30, 7 ^ 50, modulo 100.
TEST(AddedKernels, NGramHashMappingMixesIdsWithThoseBefore) {
  const Tensor input = Tensor::from<std::int64_t>({1, 3}, {3, 5, 7});
  const Attributes attributes = {attr("max_ngram_size", 2), attr("n_head_per_ngram", 1), attr("pad_id", 0)};
  const auto made = run_added("NGramHashMapping", {input, id_row({1, 10}), id_row({100})}, attributes, 2);
  EXPECT_THAT(elements_held<std::int64_t>(made[0]), ElementsAre(3, 5 ^ 30, 7 ^ 50));
  EXPECT_THAT(elements_held<std::int64_t>(made[1]), ElementsAre(7));
  EXPECT_THAT(why_added("NGramHashMapping", {input, id_row({1, 10}), id_row({0})}, attributes),
              HasSubstr("positive"));
}

TEST(AddedKernels, NGramRepeatBlockForbidsWhatWouldRepeat) {
  const Tensor words = Tensor::from<std::int64_t>({1, 5}, {0, 1, 2, 0, 1});
  const auto made = run_added("NGramRepeatBlock", {words, Tensor::from<float>({1, 4}, {1, 2, 3, 4})},
                              {attr("ngram_size", 3)});
  EXPECT_THAT(elements_held<float>(made[0]), ElementsAre(1, 2, -std::numeric_limits<float>::infinity(), 4));
}

TEST(AddedKernels, BifurcationDetectorTakesWhatAgreesAndOneMore) {
  const auto made = run_added("BifurcationDetector",
                              {id_row({1, 2, 3, 4}), id_row({9}), id_row({1}), id_row({2, 3, 5, 7})}, {}, 2);
  EXPECT_THAT(elements_held<std::int64_t>(made[0]), ElementsAre(9, 2, 3, 5));
  EXPECT_THAT(elements_held<std::int64_t>(made[1]), ElementsAre(-1)) << "src_tokens has no 5";
}

TEST(AddedKernels, InverseTimesTheMatrixIsOne) {
  const auto made = run_added("Inverse", {Tensor::from<float>({2, 2}, {0, 2, 4, 2})});
  EXPECT_THAT(elements_held<float>(made[0]),
              Pointwise(FloatNear(1e-6F), std::vector<float>{-0.25F, 0.25F, 0.5F, 0}));
  EXPECT_THAT(why_added("Inverse", {Tensor::from<float>({2, 2}, {1, 2, 2, 4})}), HasSubstr("no inverse"));
}

TEST(AddedKernels, DynamicTimeWarpingTakesTheCheapestPath) {
  const auto made = run_added("DynamicTimeWarping", {Tensor::from<float>({2, 3}, {0, 0, 9, 9, 9, 0})});
  EXPECT_THAT(elements_held<std::int32_t>(made[0]), ElementsAre(0, 0, 1, 0, 1, 2));
}

TEST(AddedKernels, CropAndResizeInterpolatesBetweenCorners) {
  const std::vector<Value> inputs = {
      Tensor::from<float>({1, 1, 2, 2}, {0, 2, 4, 6}), Tensor::from<float>({1, 4}, {0, 0, 1, 2}),
      Tensor::from<std::int32_t>({1}, {0}), Tensor::from<std::int32_t>({2}, {1, 3})};
  const auto made = run_added("CropAndResize", inputs, {attr("extrapolation_value", -1.0F)});
  EXPECT_THAT(elements_held<float>(made[0]), ElementsAre(2, 4, -1));
}

// Q8_0: a step of 0.5 and 32 numbers; an index beyond the rows takes row 0.
TEST(AddedKernels, GatherPackedReadsBlocks) {
  std::vector<std::uint8_t> row(34, 0);
  row[1] = 0x38, row[2] = 3, row[33] = 0xff;
  const auto made = run_added("GatherPacked", {Tensor::from<std::uint8_t>({1, 34}, row), id_row({7})},
                              {attr("K", 32), attr("packed_type", 8), attr("output_dtype", 1)});
  EXPECT_EQ(made[0].tensor().shape(), Shape({1, 32}));
  EXPECT_EQ(elements_held<float>(made[0])[0], 1.5F);
  EXPECT_EQ(elements_held<float>(made[0])[31], -0.5F);
  EXPECT_THAT(why_added("GatherPacked", {Tensor::from<std::uint8_t>({1, 34}, row), id_row({0})},
                        {attr("K", 32), attr("packed_type", 19), attr("output_dtype", 1)}),
              HasSubstr("packed_type 19"));
}

// One column of two elements: step 0.5, codes 9 and 0 less 8, in the low bits of two bytes.
TEST(AddedKernels, MatMulFpQ4ReadsColumns) {
  std::vector<std::uint8_t> blob(20, 0);
  blob[3] = 0x3f, blob[4] = 9;
  const auto made = run_added(
      "MatMulFpQ4",
      {Tensor::from<float>({1, 2}, {10, 1}), Tensor::from<std::uint8_t>({20}, blob), id_row({2, 1})},
      {attr("blk_quant_type", 0)});
  EXPECT_THAT(elements_held<float>(made[0]), ElementsAre(0.5F * (10 - 8)));
}

// Two experts that double and negate; the second is chosen.
TEST(AddedKernels, MoeWeighsTheBestExpert) {
  const Tensor up = Tensor::from<float>({2, 1, 1}, {2, -1}), down = Tensor::from<float>({2, 1, 1}, {1, 1});
  const std::vector<Value> inputs = {Tensor::from<float>({1, 1}, {3}), Tensor::from<float>({1, 2}, {0, 1}),
                                     up, Value(), down};
  const Attributes one = {attr("activation_type", "identity"), attr("normalize_routing_weights", 1)};
  EXPECT_THAT(elements_held<float>(run_added("MoE", inputs, one)[0]), ElementsAre(-3));
  const auto weighted = run_added("MoE", inputs, {attr("activation_type", "identity"), attr("k", 2)});
  const float second = 1 / (1 + std::exp(-1.0F));
  EXPECT_THAT(elements_held<float>(weighted[0]),
              Pointwise(FloatNear(1e-5F), std::vector<float>{6 * (1 - second) - 3 * second}));
  EXPECT_THAT(why_added("MoE", inputs, {attr("k", 3)}), HasSubstr("2 experts"));
}

TEST(AddedKernels, SparseToDenseMatMulMultiplies) {
  const auto made = run_added("SparseToDenseMatMul",
                              {Tensor::from<float>({2, 1}, {1, 2}), Tensor::from<float>({2, 1}, {3, 4})},
                              {attr("transA", 1), attr("alpha", 2.0F)});
  EXPECT_THAT(elements_held<float>(made[0]), ElementsAre(22));
}

// IQ2_XXS: point 1 of the book with sign 0 negative, at a step of 8 * (0.5 + 1) / 4.
TEST(AddedKernels, GatherPackedReadsPointsOfACodebook) {
  std::vector<std::uint8_t> block(66, 0);
  block[1] = 0x48;                              // 8
  block[2] = 1, block[6] = 1, block[9] = 0x10;  // the point, its signs, 1 in the highest 4 bits
  const auto made = run_added("GatherPacked", {Tensor::from<std::uint8_t>({1, 66}, block), id_row({0})},
                              {attr("K", 256), attr("packed_type", 16), attr("output_dtype", 1)});
  auto numbers = elements_held<float>(made[0]);
  numbers.resize(9);
  // An even number of signs is negative: the eighth, too.
  EXPECT_THAT(numbers, ElementsAre(-129, 24, 24, 24, 24, 24, 24, -24, 24));
}

// Words 0 to 3 are text, 2 ends a text, 4 and more are times.
TEST(AddedKernels, TimestampsComeInPairsAndDoNotGoBack) {
  TimestampWords words;
  words.eos = 2, words.start = 3, words.beginning_timestamp = 4;
  const auto allowed = [&](const Words& sequence, std::vector<float> scores) {
    words.apply(scores, sequence);
    std::vector<int> left;
    for (std::size_t i = 0; i < scores.size(); ++i)
      if (scores[i] > std::numeric_limits<float>::lowest()) left.push_back(static_cast<int>(i));
    return left;
  };
  const std::vector<float> text_first = {-1, -2, -3, -4, -9, -9, -9},
                           time_first = {-3, -4, -5, -6, -3, -3, -3};
  EXPECT_THAT(allowed({0}, text_first), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(allowed({0}, time_first), ElementsAre(4, 5, 6)) << "times are likelier together";
  EXPECT_THAT(allowed({0, 5}, text_first), ElementsAre(0, 1, 2, 3)) << "the first time stands alone";
  EXPECT_THAT(allowed({0, 5, 1}, text_first), ElementsAre(0, 1, 2, 6)) << "no start, and no time before 6";
  EXPECT_THAT(allowed({0, 5, 1, 5}, text_first), ElementsAre(2, 5, 6)) << "a pair, or the end";
  EXPECT_THAT(allowed({0, 5, 5}, text_first), ElementsAre(0, 1, 2));
}

// The decoder says that 1 follows 0, 3 follows 1 and 2 follows 3; the encoder begins at what it is given.
TEST(AddedKernels, WhisperBeamSearchGoesOnFromDecoderInputIds) {
  const std::string table = "<float[4,4] t = {0,9,0,0, 0,0,0,9, 9,0,0,0, 0,0,9,0}> ";
  const std::string model =
      "<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]> g (float[1,1,2] X, int32[1,b] S) "
      "=> "
      "(int32[1,1,5] Y) <int32[1] most = {5}, int32[1] one = {1}> { Y = com.microsoft.WhisperBeamSearch "
      "<eos_token_id = 2, pad_token_id = 7, encoder = e (float[r,1,n] x, int32[r,l] ids) => (float[r,l,4] "
      "logits, float[r,1,n] hidden, float[r,1,1,1] k, float[r,1,1,1] v, float[r,1,1,1] kc, float[r,1,1,1] "
      "vc) " +
      table +
      "{ logits = Gather(t, ids) hidden = Identity(x) s = Constant <value_ints = [1, 1, 1, 1]> () z = "
      "Constant "
      "<value_float = 0.0> () k = Expand(z, s) v = Identity(k) kc = Identity(k) vc = Identity(k) }, decoder "
      "= d "
      "(int32[r,1] ids, float[r,1,p,1] k, float[r,1,p,1] v, float[r,1,1,1] kc, float[r,1,1,1] vc) => "
      "(float[r,1,4] logits, float[r,1,q,1] k2, float[r,1,q,1] v2) " +
      table +
      "{ logits = Gather(t, ids) k2 = Identity(k) v2 = Identity(v) }> (X, most, , one, one, , , , , , S) }";
  const onnx_io::Model read = model_from_text(model);
  const Tensor features = Tensor::from<float>({1, 1, 2}, {0, 0});
  const auto found = [&](const std::vector<std::int32_t>& starts) {
    std::vector<Value> inputs{features, Tensor::from<std::int32_t>({1, std::ssize(starts)}, starts)};
    return elements_held<std::int32_t>(run_plan(*make_plan(read), inputs)[0]);
  };
  EXPECT_THAT(found({0}), ElementsAre(0, 1, 3, 7, 7));
  EXPECT_THAT(found({2, 0}), ElementsAre(2, 0, 1, 3, 7));
}

TEST(AddedKernels, WithoutElementsPathsAreEmptyAndScoresStay) {
  const std::int64_t many = std::int64_t{1} << 40;
  for (const Shape& shape : {Shape{0, many}, Shape{many, 0}, Shape{1, 0, 3}}) {
    const Value path = run_added("DynamicTimeWarping", {Tensor::zeros(DType::float32, shape)})[0];
    EXPECT_EQ(path.tensor().shape(), (Shape{2, 0})) << shape.to_string();
  }
  const Value scores = run_added("NGramRepeatBlock",
                                 {Tensor::zeros(DType::int64, {1, 0}), Tensor::from<float>({1, 2}, {3, 4})},
                                 {attr("ngram_size", 1)})[0];
  EXPECT_THAT(scores.tensor().span<float>(), ElementsAre(3, 4));
  const std::vector<Value> states = run_added(
      "GatedDeltaNet",
      {Tensor::zeros(DType::float32, {many, 0, 1, 2}), Tensor::zeros(DType::float32, {many, 0, 1, 2}),
       Tensor::zeros(DType::float32, {many, 0, 1, 0})},
      {attr("update_rule", "linear")}, 2);
  EXPECT_EQ(states[1].tensor().shape(), (Shape{many, 1, 0, 2}));
}

TEST(AddedKernels, QLinearOperatorsGiveTheSameOnAllThreads) {
  std::vector<std::uint8_t> bytes(257 * 401);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7919 / 13);
  const Tensor x = Tensor::from<std::uint8_t>({257, 401}, bytes), scale = Tensor::scalar(0.05F);
  const Tensor row =
      Tensor::from<std::uint8_t>({401}, std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 401));
  const auto both = [&] {
    return std::pair(elements_held<std::uint8_t>(
                         run_added("QLinearMul", {x, scale, Value(), row, scale, Value(), scale})[0]),
                     elements_held<std::uint8_t>(run_added("QLinearSigmoid", {x, scale, Value(), scale})[0]));
  };
  const auto alone = both();
  kernels::set_threads(3);
  const auto together = both();
  kernels::set_threads(1);
  EXPECT_EQ(alone, together);
}

// Beyond 2^20 numbers the sum of integers is not asked.
TEST(AddedKernels, QLinearGlobalAveragePoolOfManyNumbers) {
  const std::int64_t many = (std::int64_t{1} << 20) + 3;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(many), 9);
  bytes[5] = 200;
  const Tensor one = Tensor::scalar(1.F), zero = Tensor::scalar(std::uint8_t{2});
  for (const std::int64_t last : {0, 1}) {
    const Tensor x = Tensor::from<std::uint8_t>(last != 0 ? Shape{1, many, 1} : Shape{1, 1, many}, bytes);
    EXPECT_THAT(elements_held<std::uint8_t>(run_added("QLinearGlobalAveragePool", {x, one, zero, one, zero},
                                                      {attr("channels_last", last)})[0]),
                ElementsAre(9));
  }
}

TEST(AddedKernels, QLinearOperatorsRefuseInWords) {
  const Tensor x = Tensor::from<std::uint8_t>({2}, {1, 2}),
               three = Tensor::from<std::uint8_t>({3}, {1, 2, 3});
  const Tensor one = Tensor::scalar(1.F), two = Tensor::from<float>({2}, {1, 1});
  const Tensor signed_zero = Tensor::scalar(std::int8_t{0});
  EXPECT_THAT(why_added("QLinearAdd", {x, one, Value(), three, one, Value(), one}),
              HasSubstr("input B is [3], which does not broadcast to [2]"));
  EXPECT_THAT(why_added("QLinearMul", {x, one, Value(), x, two, Value(), one}),
              HasSubstr("input B_scale is [2]; QLinearMul-1 takes []"));
  EXPECT_THAT(why_added("QLinearSigmoid", {x, two, Value(), one}),
              HasSubstr("input X_scale is [2]; QLinearSigmoid-1 takes a scalar"));
  EXPECT_THAT(why_added("QLinearLeakyRelu", {x, one, signed_zero, one}), HasSubstr("X_zero_point"));
  EXPECT_THAT(why_added("QLinearAdd", {x, one, Value(), signed_zero, one, Value(), one}),
              HasSubstr("input B"));
  const Tensor zero = Tensor::scalar(std::uint8_t{0}), none = Tensor::zeros(DType::uint8, {1, 2, 0});
  const auto refusal_of_parts = [&](std::vector<Value> parts, std::int64_t axis = 0) {
    parts.insert(parts.begin(), {one, zero});
    return why_added("QLinearConcat", std::move(parts), {attr("axis", axis)});
  };
  EXPECT_THAT(refusal_of_parts({x, one}), HasSubstr("2 inputs follow Y_zero_point"));
  EXPECT_THAT(refusal_of_parts({x, one, zero}, 1), HasSubstr("axis is 1, but must be in [-1, 1)"));
  EXPECT_THAT(refusal_of_parts({x, one, zero, none, one, zero}), HasSubstr("cannot be joined with [2]"));
  EXPECT_THAT(refusal_of_parts({x, two, zero}), HasSubstr("input 3 is [2], but must hold one number"));
  EXPECT_THAT(refusal_of_parts({x, one, signed_zero}), HasSubstr("input 4 is int8, but must be uint8"));
  EXPECT_THAT(refusal_of_parts({one, one, zero}), HasSubstr("input 2 is float"));
  EXPECT_THAT(why_added("QLinearGlobalAveragePool", {none, one, zero, one, zero}),
              HasSubstr("X is [1,2,0]: its planes have no element"));
  EXPECT_THAT(why_added("QLinearGlobalAveragePool", {x, one, zero, one, zero}), HasSubstr("X is [2]"));
}

TEST(AddedKernels, PagesSayWhatIsRefused) {
  const Tensor row = Tensor::from<float>({1, 2}, {1, 2}), cube = Tensor::from<float>({1, 1, 2}, {1, 2});
  const Tensor text = Tensor::from<std::string>({1}, {"a"});
  const Attributes marked = {attr("mark", 0), attr("mincharnum", 1), attr("pad_value", "")};
  EXPECT_THAT(why_added("SparseToDenseMatMul", {row, row}), HasSubstr("2 columns against 1 rows [SHAPE001]"));
  EXPECT_THAT(why_added("SparseToDenseMatMul", {row, Tensor::zeros(DType::int64, {2, 2})}),
              HasSubstr("A is float and B int64, but both must be of one type"));
  EXPECT_THAT(why_added("Tokenizer", {text}, marked), HasSubstr("neither separators nor tokenexp is stated"));
  EXPECT_THAT(why_added("GatedDeltaNet", {row}), Not(HasSubstr("internal")));
  EXPECT_THAT(why_added("GatedDeltaNet", {Tensor::scalar(1.F)}), HasSubstr("invalid"));
  EXPECT_THAT(why_added("CausalConvWithState", {cube, cube, Tensor::from<float>({2}, {1, 2})}, {}, 2),
              HasSubstr("bias is [2], but must be [1]: a number for each channel"));
  EXPECT_THAT(why_added("CausalConvWithState", {cube, cube, Value(), cube}, {}, 2),
              HasSubstr("past_state is [1,1,2], but must be [1,1,1]"));
  EXPECT_THAT(why_added("MaxpoolWithMask",
                        {Tensor::zeros(DType::float32, {1, 1, 2}), Tensor::zeros(DType::int32, {1, 1, 2})}),
              HasSubstr("attribute kernel_shape is needed"));
  EXPECT_THAT(why_added("LinearAttention", {cube, cube, cube},
                        {attr("q_num_heads", 2), attr("kv_num_heads", 3), attr("update_rule", "linear")}, 2),
              HasSubstr("one must divide the other"));
}

}  // namespace
}  // namespace grurun::engine
