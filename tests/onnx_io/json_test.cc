#include <gtest/gtest.h>

#include <bit>

#include "onnx_io/values/json_tree.h"
#include "onnx_io/values/value_formats.h"
#include "tensor/error.h"
#include "tests/onnx_io/sample_values.h"

namespace grurun::onnx_io {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_json(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

struct JsonRead {
  const char* text;
  const char* described;
};

TEST(Json, ShapesAndTypesAreGuessedWhereTheyAreNotGiven) {
  const JsonRead rows[] = {
      {"1", "tensor(int64) []"},
      {"-1.5", "tensor(float) []"},
      {"[1, 2, 3]", "tensor(int64) [3]"},
      {"[[1, 2.5], [3, 4]]", "tensor(float) [2,2]"},
      {"[1, \"NaN\"]", "tensor(float) [2]"},
      {"[\"NaN\", \"x\"]", "tensor(string) [2]"},
      {"[true, false]", "tensor(bool) [2]"},
      {"[]", "tensor(float) [0]"},
      {"[[], []]", "tensor(float) [2,0]"},
      {R"j({"X": {"dtype": "float16", "data": [[1, 2]]}})j", "tensor(float16) [1,2]"},
      {R"j({"X": {"dtype": "FLOAT", "shape": [2, 3], "data": [1, 2, 3, 4, 5, 6]}})j", "tensor(float) [2,3]"},
      {R"j({"X": {"dtype": "float32", "shape": [2, 0, 3], "data": []}})j", "tensor(float) [2,0,3]"},
      {R"j({"X": {"dtype": "double", "shape": [], "data": [1]}})j", "tensor(double) []"},
      {R"j({"X": {"dtype": "complex64", "data": [[1, 2], ["NaN", 0]]}})j", "tensor(complex64) [2]"},
      {R"j({"X": {"dtype": "complex64", "data": [1, 2]}})j", "tensor(complex64) []"},
      {R"j({"X": {"dtype": "bool", "data": [0, 1, true]}})j", "tensor(bool) [3]"},
      {R"j({"X": {"sequence": [[1], [2, 3]]}})j", "seq(tensor(int64)) of 2"},
      {R"j({"X": {"sequence": [], "element": "tensor(float)"}})j", "seq(tensor(float)) of 0"},
      {R"j({"X": {"optional": null, "element": "tensor(float)"}})j",
       "optional(tensor(float)) without a value"},
      {R"j({"X": {"keys": ["a"], "values": [[1.5]]}})j", "map(string,tensor(float)) of 1"},
  };
  for (const JsonRead& row : rows) {
    try {
      EXPECT_EQ(parse_json(row.text).at(0).value.describe(), row.described) << row.text;
    } catch (const Error& error) {
      ADD_FAILURE() << row.text << ": " << error.what();
    }
  }
}

TEST(Json, NamesKeepTheirOrder) {
  const std::vector<NamedValue> values = parse_json(R"({"z": 1, "a": 2, "": 3})");
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].name, "z");
  EXPECT_EQ(values[1].name, "a");
  EXPECT_EQ(values[2].name, "");
}

TEST(Json, IsWrittenLikeThis) {
  EXPECT_EQ(
      json_content({{"X", Tensor::from<float>({1, 2}, std::vector<float>{0.1f, -0.0f})},
                    {"\"s\"", Tensor::from<std::string>({2}, std::vector<std::string>{"a\n", "\xff"})}}),
      "{\n  \"X\": {\"dtype\": \"float\", \"shape\": [1, 2], \"data\": [0.1, -0.0]},\n"
      "  \"\\\"s\\\"\": {\"dtype\": \"string\", \"shape\": [2], \"data\": [\"a\\n\", {\"hex\": "
      "\"ff\"}]}\n}\n");
}

TEST(Json, FloatsSurviveEveryBit) {
  std::vector<float> values;
  for (std::uint64_t word = 0; word <= 0xffffffffu; word += 4999999) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    if (value == value) values.push_back(value);
  }
  const Tensor tensor = Tensor::from<float>({static_cast<std::int64_t>(values.size())}, values);
  EXPECT_EQ(difference(parse_json(json_content({{"X", tensor}})).at(0).value, tensor), "");
}

struct BadText {
  std::string text;
  const char* part;
};

TEST(Json, EachBrokenTextGivesItsOneLine) {
  const BadText rows[] = {
      {"", "invalid: no JSON, at byte 1"},
      {"[1,", "invalid: no JSON, at byte 4"},
      {"[1] 2", "invalid: no JSON, at byte 5"},
      {"\xff", "invalid: no JSON, at byte 1"},
      {"[1e999]", "invalid: a number beyond the range of float64, at byte 6"},
      {"null", "invalid: null is no element"},
      {"[1, \"x\"]", "invalid: elements of several types; state their dtype"},
      {"[true, 1]", "invalid: elements of several types; state their dtype"},
      {"[[1, 2], [3]]", "invalid: lists of different length or depth"},
      {"[[1], 2]", "invalid: lists of different length or depth"},
      {"[1, [2]]", "invalid: lists of different depth"},
      {std::string(100, '['), "invalid: JSON nested deeper than 64"},
      {R"j({"X": 1, "X": 2})j", "invalid: the key \"X\" is there twice in one object"},
      {R"j({"X": {"data": [1], "typo": 1}})j", "invalid: \"X\": the key \"typo\" has no meaning here"},
      {R"j({"X": {"shape": [1]}})j", "invalid: \"X\": a value needs \"data\""},
      {R"j({"X": {"dtype": "real", "data": [1]}})j", "\"real\" is no element type"},
      {R"j({"X": {"dtype": 1, "data": [1]}})j", "dtype must be a string"},
      {R"j({"X": {"shape": [3], "data": [1]}})j", "data of shape [1], but shape says [3]"},
      {R"j({"X": {"shape": [-1], "data": [1]}})j", "shape must hold numbers from 0"},
      {R"j({"X": {"shape": [4294967296, 4294967296], "data": [1]}})j",
       "invalid: \"X\": shape [4294967296,4294967296] has more elements than any memory holds"},
      {R"j({"X": {"dtype": "uint8", "data": [256]}})j", "256 does not fit in uint8"},
      {R"j({"X": {"dtype": "int4", "data": [-9]}})j", "-9 does not fit in int4"},
      {R"j({"X": {"dtype": "uint2", "data": [4]}})j", "4 does not fit in uint2"},
      {R"j({"X": {"dtype": "uint64", "data": [-1]}})j", "-1 does not fit in uint64"},
      {R"j({"X": {"dtype": "int64", "data": [9223372036854775808]}})j",
       "9223372036854775808 does not fit in int64"},
      {R"j({"X": {"dtype": "int64", "data": [100000000000000000000]}})j", "1e+20 does not fit in int64"},
      {R"j({"X": {"dtype": "int64", "data": [1.0]}})j", "or is not written as an integer"},
      {R"j({"X": {"dtype": "int32", "data": [1.5]}})j", "a number where an element of type int32 is needed"},
      {R"j({"X": {"dtype": "float", "data": [1e39]}})j", "does not fit in float"},
      {R"j({"X": {"dtype": "float16", "data": [65520]}})j", "65520 does not fit in float16"},
      {R"j({"X": {"dtype": "float8e4m3fn", "data": ["Infinity"]}})j", "inf does not fit in float8e4m3fn"},
      {R"j({"X": {"dtype": "float4e2m1", "data": [6.5]}})j", "6.5 does not fit in float4e2m1"},
      {R"j({"X": {"dtype": "float4e2m1", "data": ["NaN"]}})j", "nan does not fit in float4e2m1"},
      {R"j({"X": {"dtype": "float8e8m0", "data": [3]}})j", "3 is no power of two"},
      {R"j({"X": {"dtype": "float8e8m0", "data": [0]}})j", "0 is no power of two"},
      {R"j({"X": {"dtype": "bool", "data": [2]}})j", "where an element of type bool is needed"},
      {R"j({"X": {"dtype": "float", "data": ["x"]}})j", "a string where a number of type float is needed"},
      {R"j({"X": {"dtype": "complex64", "data": [[1, 2, 3]]}})j", "invalid"},
      {R"j({"X": {"dtype": "string", "data": [{"hex": "f"}]}})j", "an odd number of hexadecimal digits"},
      {R"j({"X": {"dtype": "string", "data": [{"hex": "zz"}]}})j", "'z' is no hexadecimal digit"},
      {R"j({"X": {"sequence": [1, 1.5]}})j", "a sequence holds tensor(int64) and tensor(float)"},
      {R"j({"X": {"sequence": [1], "element": "tensor(float)"}})j",
       "a sequence of tensor(float), but its items are"},
      {R"j({"X": {"sequence": 1}})j", "a list of values must be an array"},
      {R"j({"X": {"keys": ["a"], "values": []}})j", "a map of 1 keys and 0 values"},
      {R"j({"X": {"keys": [1.5], "values": [1]}})j", "the keys of a map cannot be float"},
      {R"j({"X": {"keys": {"sequence": []}, "values": []}})j", "a tensor is needed here"},
      {R"j({"X": {"keys": ["a", "b", "a"], "values": [1, 2, 3]}})j", "the map has the key 'a' twice"},
      {R"j({"X": {"keys": [7, 7], "values": [1, 2]}})j", "the map has the key '7' twice"},
  };
  for (const BadText& row : rows) {
    EXPECT_NE(error_of(row.text).find(row.part), std::string::npos)
        << row.text << "\n  gave " << error_of(row.text);
  }
}

TEST(Json, ManyKeysTakeNoQuadraticTime) {
  std::string text = "{";
  for (int i = 0; i < 300000; ++i) text += fmt::format("\"{}\":0,", i);
  text.back() = '}';
  const JsonTree tree = JsonTree::parse(text);
  EXPECT_EQ(tree.root().size, 300000u);
}

}  // namespace
}  // namespace grurun::onnx_io
