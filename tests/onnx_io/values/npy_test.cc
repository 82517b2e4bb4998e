// What numpy and ml_dtypes write, read back; files are built here the way numpy.save builds them.
#include <gtest/gtest.h>

#include "onnx_io/values/npy_header.h"
#include "onnx_io/values/value_formats.h"
#include "tensor/error.h"
#include "tests/onnx_io/sample_values.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string text = dictionary + '\n';
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  out += static_cast<char>(text.size() & 0xff);
  out += static_cast<char>(text.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + text + data;
}

std::string npy(const char* descr, const char* order, const char* shape, const std::string& data) {
  return npy(fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}", descr, order, shape), data);
}

Tensor tensor_of(const std::string& file, DType expected = DType::undefined) {
  return parse_npy({reinterpret_cast<const std::byte*>(file.data()), file.size(), nullptr}, expected);
}

std::string npy_error(const std::string& file, DType expected = DType::undefined) {
  try {
    tensor_of(file, expected);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  const auto span = tensor.span<T>();
  return {span.begin(), span.end()};
}

TEST(Npy, ByteOrders) {
  const std::vector<std::int32_t> expected = {1, -2};
  const std::string little("\x01\0\0\0\xfe\xff\xff\xff", 8);
  const std::string big("\0\0\0\x01\xff\xff\xff\xfe", 8);
  EXPECT_EQ(elements<std::int32_t>(tensor_of(npy("'<i4'", "False", "(2,)", little))), expected);
  EXPECT_EQ(elements<std::int32_t>(tensor_of(npy("'=i4'", "False", "(2,)", little))), expected);
  EXPECT_EQ(elements<std::int32_t>(tensor_of(npy("'>i4'", "False", "(2,)", big))), expected);
  EXPECT_EQ(elements<std::int8_t>(tensor_of(npy("'|i1'", "False", "(2,)", "\x01\xfe"))),
            (std::vector<std::int8_t>{1, -2}));
  EXPECT_EQ(elements<std::int8_t>(tensor_of(npy("'>i1'", "False", "(2,)", "\x01\xfe"))),
            (std::vector<std::int8_t>{1, -2}));
  // Each half of a complex number is swapped by itself.
  const std::string complex("\x3f\x80\0\0\x40\0\0\0", 8);
  EXPECT_EQ(elements<Complex64>(tensor_of(npy("'>c8'", "False", "(1,)", complex))),
            (std::vector<Complex64>{{1, 2}}));
}

TEST(Npy, FortranOrderBecomesRowMajor) {
  const std::string data("\x01\x04\x02\x05\x03\x06", 6);
  const Tensor tensor = tensor_of(npy("'|u1'", "True", "(2, 3)", data));
  EXPECT_EQ(elements<std::uint8_t>(tensor), (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
  const std::string cube("\0\1\2\3\4\5\6\7", 8);
  EXPECT_EQ(elements<std::uint8_t>(tensor_of(npy("'|u1'", "True", "(2, 2, 2)", cube))),
            (std::vector<std::uint8_t>{0, 4, 2, 6, 1, 5, 3, 7}));
  EXPECT_EQ(elements<std::string>(tensor_of(npy("'|S1'", "True", "(2, 2)", "abcd"))),
            (std::vector<std::string>{"a", "c", "b", "d"}));
  EXPECT_EQ(tensor_of(npy("'<c16'", "True", "(0, 3)", "")).shape(), Shape({0, 3}));
}

TEST(Npy, Strings) {
  const std::string wide("a\0\0\0\xfc\0\0\0\x42\xf6\x01\0\0\0\0\0", 16);
  EXPECT_EQ(elements<std::string>(tensor_of(npy("'<U2'", "False", "(2,)", wide))),
            (std::vector<std::string>{"aü", "🙂"}));
  const std::string big("\0\0\0a\0\0\0\0", 8);
  EXPECT_EQ(elements<std::string>(tensor_of(npy("'>U2'", "False", "()", big))),
            (std::vector<std::string>{"a"}));
  EXPECT_EQ(elements<std::string>(tensor_of(npy("'|S3'", "False", "(2,)", std::string("ab\0\xff\0c", 6)))),
            (std::vector<std::string>{"ab", std::string("\xff\0c", 3)}));
}

TEST(Npy, HeaderVersionsAndSpellings) {
  const std::string dictionary = "{'shape': (3L,), \"descr\": '|u1', 'fortran_order': False}";
  for (const char version : {1, 2, 3})
    EXPECT_EQ(tensor_of(npy(dictionary, "abc", version)).shape(), Shape({3}));
  EXPECT_EQ(tensor_of(npy("'|u1'", "False", "()", "a")).shape(), Shape{});
}

struct Named {
  const char* descr;
  DType expected;
  DType dtype;
};

TEST(Npy, TypesOfMlDtypes) {
  const Named rows[] = {
      // np.save of such an array: bfloat16 and float8_e5m2 are told by their width and kind, the others are
      // not.
      {"'<V2'", DType::undefined, DType::bfloat16},
      {"'<f1'", DType::undefined, DType::float8e5m2},
      {"'<V1'", DType::float8e4m3fn, DType::float8e4m3fn},
      {"'|V1'", DType::int4, DType::int4},
      // A record's field names the type; so does the name that ml_dtypes registers.
      {"[('bfloat16', '<V2')]", DType::undefined, DType::bfloat16},
      {"[('float8_e4m3fnuz', '|V1')]", DType::undefined, DType::float8e4m3fnuz},
      {"[('int2', '|u1')]", DType::undefined, DType::int2},
      {"'float8_e8m0fnu'", DType::undefined, DType::float8e8m0},
      {"'uint4'", DType::undefined, DType::uint4},
  };
  for (const Named& row : rows) {
    const std::string data(dtype_size(row.dtype), '\1');
    EXPECT_EQ(tensor_of(npy(row.descr, "False", "(1,)", data), row.expected).dtype(), row.dtype) << row.descr;
  }
  // ml_dtypes writes -1 as 0x0f; a sign that was extended means the same.
  EXPECT_EQ(elements<Int4>(tensor_of(npy("'int4'", "False", "(3,)", "\x0f\xff\x07"))),
            (std::vector<Int4>{Int4(-1), Int4(-1), Int4(7)}));
}

TEST(Npy, WhatIsWrittenIsPaddedTo64Bytes) {
  for (const DType dtype : every_dtype()) {
    const NpyFile file = npy_content(sample_tensor(dtype, {2, 3}));
    EXPECT_EQ(file.header.size() % 64, 0u) << dtype_name(dtype);
  }
  EXPECT_EQ(npy_header("<f4", {2, 3}).substr(10, 60),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ");
  EXPECT_EQ(npy_header("<f4", {2}).substr(51, 15), "'shape': (2,), ");
}

struct BadFile {
  std::string file;
  const char* message;
};

TEST(Npy, EachBrokenFileGivesItsOneLine) {
  const BadFile rows[] = {
      {"", "invalid: no .npy file: it does not begin with \\x93NUMPY"},
      {"\x93NUMPY", "invalid: the file ends within its header"},
      {npy("{}", "", 4), "unsupported: format version 4.0 of .npy; 1.0, 2.0 and 3.0 are known"},
      {npy("{}", ""), "invalid: the header lacks descr, fortran_order or shape"},
      {npy("{'descr': '<f4'}", ""), "invalid: the header lacks descr, fortran_order or shape"},
      {npy("{'descr': '<f4', 'descr': '<f4'}", ""),
       "invalid: the header's key 'descr' is unknown or given twice"},
      {npy("{'shape': (1,), 'x': 1}", ""), "invalid: the header's key 'x' is unknown or given twice"},
      {npy("'<f4'", "Maybe", "(1,)", "1234"), "invalid: fortran_order is neither True nor False"},
      {npy("'<f4'", "False", "(-1,)", ""), "invalid: dimension -1 is negative"},
      {npy("'<f4'", "False", "(99999999999999999999,)", ""),
       "invalid: the shape holds something else than numbers below 2^63"},
      {npy("'<f4'", "False", "(4294967296, 4294967296)", ""),
       "invalid: shape [4294967296,4294967296] has more elements than any memory holds"},
      {npy("'<f4'", "False", "(2,)", "1234"),
       "invalid: 4 bytes of data, but [2] elements of 4 bytes each take 8"},
      {npy("'<f4'", "False", "()", "12345"),
       "invalid: 5 bytes of data, but [] elements of 4 bytes each take 4"},
      {npy("'|b1'", "False", "(1,)", "\2"), "invalid: a bool that is neither 0 nor 1"},
      {npy("'int4'", "False", "(1,)", "\x10"), "invalid: 16 is no code of a int4"},
      {npy("'float4_e2m1fn'", "False", "(1,)", "\xff"), "invalid: 255 is no code of a float4e2m1"},
      {npy("'<U1'", "False", "(1,)", std::string("\0\xd8\0\0", 4)),
       "invalid: 0xd800 in a string is no Unicode character"},
      {npy("'<U99999999999'", "False", "(1,)", ""),
       "invalid: descr '<U99999999999' is no element type of numpy's"},
      {npy("'|S0'", "False", "(1099511627776,)", ""), "unsupported: strings of width 0 ('|S0')"},
      {npy("'|O'", "False", "(1,)", "x"),
       "unsupported: an array of Python objects (pickle); save strings as dtype '<U' instead"},
      {npy("'<M8[s]'", "False", "(1,)", "12345678"), "unsupported: numpy's element type '<M8[s]'"},
      {npy("'<f16'", "False", "(0,)", ""), "unsupported: numpy's element type '<f16'"},
      {npy("[('a', '<i4')]", "False", "(0,)", ""),
       "unsupported: a record with the field 'a'; arrays must have one element type"},
      {npy("[('int4', '|V1'), ('b', '|V1')]", "False", "(0,)", ""),
       "unsupported: a record of several fields, or of arrays; one element type is needed"},
      {npy("[('bfloat16', '<f4')]", "False", "(0,)", ""),
       "invalid: a field 'bfloat16' of descr '<f4'; bfloat16 takes 2 bytes"},
  };
  for (const BadFile& row : rows) EXPECT_EQ(npy_error(row.file), row.message);
  EXPECT_NE(npy_error(npy("'<V1'", "False", "(0,)", "")).find("does not say which"), std::string::npos);
  EXPECT_NE(npy_error(npy("'<V1'", "False", "(0,)", ""), DType::float32).find("does not say which"),
            std::string::npos);
}

}  // namespace
}  // namespace grurun::onnx_io
