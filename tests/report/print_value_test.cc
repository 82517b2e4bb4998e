#include "report/print_value.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numeric>

#include "tensor/element_text.h"

namespace grurun::report {
namespace {

Tensor counting(const Shape& shape) {
  Tensor tensor(DType::int64, shape);
  std::iota(tensor.mutable_data<std::int64_t>(), tensor.mutable_data<std::int64_t>() + tensor.size(), 0);
  return tensor;
}

TEST(PrintValue, Tensors) {
  struct Case {
    Tensor tensor;
    const char* text;
  };
  const float inf = std::numeric_limits<float>::infinity();
  const Case cases[] = {
      {Tensor::scalar(3.25f), "3.25\n"},
      {Tensor::scalar<std::int64_t>(-7), "-7\n"},
      {Tensor::zeros(DType::float32, {0}), "[]\n"},
      {Tensor::zeros(DType::float32, {2, 0, 3}), "[]\n"},
      {Tensor::from<float>({4}, std::vector<float>{1.0f, -0.5f, inf, std::nanf("")}),
       "[   1 -0.5  inf  nan]\n"},
      {Tensor::from<float>({2}, std::vector<float>{1.0f / 3, 1e-9f}), "[0.333333    1e-09]\n"},
      {counting({2, 3}), "[[0 1 2]\n [3 4 5]]\n"},
      {counting({2, 2, 2}), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\n"},
      {counting({200}), "[  0   1   2 ... 197 198 199]\n"},
      {counting({3, 100}),
       "[[  0   1   2 ...  97  98  99]\n [100 101 102 ... 197 198 199]\n [200 201 202 ... 297 298 299]]\n"},
      {counting({60, 2}), "[[  0   1]\n [  2   3]\n [  4   5]\n ...\n [114 115]\n [116 117]\n [118 119]]\n"},
      {Tensor::from<bool>({2}, std::vector<bool>{true, false}), "[ true false]\n"},
      {Tensor::from<std::string>({2}, std::vector<std::string>{"a'b", "\x1b[1m\n"}),
       "[     'a\\'b' '\\x1b[1m\\n']\n"},
      {Tensor::from<Complex64>({2}, std::vector<Complex64>{{1, 2}, {0, -1}}), "[1+2j 0-1j]\n"},
      {Tensor::from<Float16>({2}, std::vector<Float16>{Float16(0.1f), Float16(65504.0f)}),
       "[0.099976    65504]\n"},
      {Tensor::from<Int4>({2}, std::vector<Int4>{Int4(-8), Int4(7)}), "[-8  7]\n"},
      {Tensor::from<std::uint8_t>({2}, std::vector<std::uint8_t>{65, 255}), "[ 65 255]\n"},
      {Tensor::scalar(Float8E8M0::from_bits(128)), "2\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(print_value(c.tensor, {}, 0), c.text);
}

TEST(PrintValue, LongRowsWrapUnderTheirFirstElement) {
  PrintOptions narrow;
  narrow.line_width = 12;
  EXPECT_EQ(print_value(counting({2, 6}), narrow, 2),
            "  [[ 0  1  2\n     3  4  5]\n   [ 6  7  8\n     9 10 11]]\n");
}

TEST(PrintValue, FullShowsEveryElementWithEveryDigit) {
  const Tensor third = Tensor::from<float>({1}, std::vector<float>{1.0f / 3});
  EXPECT_EQ(print_value(third, PrintOptions::full(), 0), "[0.33333334]\n");
  const std::string all = print_value(counting({500}), PrintOptions::full(), 0);
  EXPECT_EQ(all.find("..."), std::string::npos);
  EXPECT_NE(all.find("250"), std::string::npos);
}

TEST(PrintValue, SummariesStayShortAtAnyRank) {
  EXPECT_LT(print_value(counting({7, 7, 7, 7, 7}), {}, 0).size(), 1000u);
  EXPECT_LT(print_value(counting({3, 3, 3, 3, 3, 3, 3, 3, 3, 3}), {}, 0).size(), 200u);
}

TEST(PrintValue, SequencesMapsAndOptionals) {
  const ValueType type = ValueType::tensor(DType::int64);
  EXPECT_EQ(print_value(Sequence{type, {counting({2}), Tensor::scalar<std::int64_t>(5)}}, {}, 0),
            "[0] tensor(int64) [2]\n  [0 1]\n[1] 5\n");
  EXPECT_EQ(print_value(Sequence{type, {}}, {}, 0), "[]\n");
  EXPECT_EQ(print_value(Sequence{type, std::vector<Value>(8, Tensor::scalar<std::int64_t>(1))}, {}, 0),
            "[0] 1\n[1] 1\n[2] 1\n[3] 1\n[4] 1\n[5] 1\n... 2 more\n");
  const Tensor keys = Tensor::from<std::string>({2}, std::vector<std::string>{"cat", "dog"});
  EXPECT_EQ(print_value(Map{type, keys, {Tensor::scalar(0.5f), Tensor::scalar(0.25f)}}, {}, 0),
            "'cat': 0.5\n'dog': 0.25\n");
  EXPECT_EQ(print_value(Optional{type, nullptr}, {}, 0), "nothing\n");
  EXPECT_EQ(print_value(Optional{type, std::make_shared<const Value>(counting({2}))}, {}, 0), "[0 1]\n");
  EXPECT_EQ(print_value(Value(), {}, 2), "  nothing\n");
}

TEST(ElementText, LongStringsAreCutBetweenCharacters) {
  const Tensor text = Tensor::scalar(fmt::format("{}\xc3\xa9{}", std::string(63, 'a'), std::string(10, 'b')));
  EXPECT_EQ(element_text(text, 0, 0), "'" + std::string(63, 'a') + "\xc3\xa9'...");
}

TEST(ElementText, ShortestTextThatGivesTheValueBack) {
  const Tensor values = Tensor::from<double>({2}, std::vector<double>{0.1, 1e22});
  EXPECT_EQ(element_text(values, 0, 0), "0.1");
  EXPECT_EQ(element_text(values, 1, 0), "1e+22");
}

}  // namespace
}  // namespace grurun::report
