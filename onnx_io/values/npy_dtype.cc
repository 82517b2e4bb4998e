#include "onnx_io/values/npy_dtype.h"

#include <array>
#include <charconv>
#include <string_view>

#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

struct Row {
  DType dtype;
  const char* code;  // kind and width as numpy writes them after the byte order; a name when numpy has none
};

constexpr std::array<Row, 27> rows = {{
    {DType::float32, "f4"},
    {DType::float64, "f8"},
    {DType::float16, "f2"},
    {DType::uint8, "u1"},
    {DType::int8, "i1"},
    {DType::uint16, "u2"},
    {DType::int16, "i2"},
    {DType::uint32, "u4"},
    {DType::int32, "i4"},
    {DType::uint64, "u8"},
    {DType::int64, "i8"},
    {DType::boolean, "b1"},
    {DType::complex64, "c8"},
    {DType::complex128, "c16"},
    {DType::bfloat16, "bfloat16"},
    {DType::float8e4m3fn, "float8_e4m3fn"},
    {DType::float8e4m3fnuz, "float8_e4m3fnuz"},
    {DType::float8e5m2, "float8_e5m2"},
    {DType::float8e5m2fnuz, "float8_e5m2fnuz"},
    {DType::float8e8m0, "float8_e8m0fnu"},
    {DType::float4e2m1, "float4_e2m1fn"},
    {DType::float6e2m3, "float6_e2m3fn"},
    {DType::float6e3m2, "float6_e3m2fn"},
    {DType::uint4, "uint4"},
    {DType::int4, "int4"},
    {DType::uint2, "uint2"},
    {DType::int2, "int2"},
}};

constexpr std::size_t first_named = 14;

NpyDType plain(DType dtype, bool swap) {
  return {NpyDType::Kind::plain, dtype, dtype_size(dtype), swap && dtype_size(dtype) > 1};
}

DType find_code(std::string_view code) {
  for (const Row& row : rows) {
    if (code == row.code) return row.dtype;
  }
  return DType::undefined;
}

bool is_named(DType dtype) {
  for (std::size_t i = first_named; i < rows.size(); ++i) {
    if (rows[i].dtype == dtype) return true;
  }
  return false;
}

std::size_t parse_width(std::string_view digits, const std::string& descr) {
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  if (error != std::errc() || end != digits.data() + digits.size() || width > (1u << 30)) {
    fail_invalid("descr '{}' is no element type of numpy's", descr);
  }
  return width;
}

DType void_type(std::size_t width, DType expected, const std::string& descr) {
  if (width == 2) return DType::bfloat16;
  if (width == 1 && is_named(expected) && dtype_size(expected) == 1) return expected;
  if (width == 1) {
    fail_invalid(
        "descr '{}' does not say which one-byte type of ml_dtypes the elements are; save them as .npz by "
        "grurun, or as a record whose field has the type's name, a.view([('float8_e4m3fn', 'V1')])",
        descr);
  }
  fail_unsupported("numpy's element type '{}'", descr);
}

}  // namespace

NpyDType parse_npy_dtype(const std::string& descr, DType expected) {
  if (const DType named = find_code(descr); is_named(named)) return plain(named, false);
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const bool swap = has_order && descr[0] == '>';
  const std::string_view code = std::string_view(descr).substr(has_order ? 1 : 0);
  if (code.empty()) fail_invalid("descr '{}' is no element type of numpy's", descr);
  if (const DType dtype = find_code(code); dtype != DType::undefined) return plain(dtype, swap);
  // ml_dtypes calls this one a float of one byte, all the others voids.
  if (code == "f1") return plain(DType::float8e5m2, false);
  if (code[0] == 'O')
    fail_unsupported("an array of Python objects (pickle); save strings as dtype '<U' instead");
  if (code[0] == 'V') return plain(void_type(parse_width(code.substr(1), descr), expected, descr), swap);
  if (code[0] == 'S' || code[0] == 'U') {
    const std::size_t width = parse_width(code.substr(1), descr);
    if (width == 0) fail_unsupported("strings of width 0 ('{}')", descr);
    if (code[0] == 'S') return {NpyDType::Kind::bytes, DType::string, width, false};
    return {NpyDType::Kind::ucs4, DType::string, 4 * width, swap};
  }
  fail_unsupported("numpy's element type '{}'", descr);
}

NpyDType parse_npy_field(const std::string& name, const std::string& descr) {
  const DType dtype = parse_dtype(name);
  if (!is_named(dtype))
    fail_unsupported("a record with the field '{}'; arrays must have one element type", name);
  const NpyDType type = parse_npy_dtype(descr, dtype);
  if (type.item_size != dtype_size(dtype)) {
    fail_invalid("a field '{}' of descr '{}'; {} takes {} bytes", name, descr, name, dtype_size(dtype));
  }
  return plain(dtype, type.swap);
}

std::string npy_descr(DType dtype) {
  for (const Row& row : rows) {
    if (row.dtype != dtype) continue;
    if (is_named(dtype)) return row.code;
    return (dtype_size(dtype) == 1 ? "|" : "<") + std::string(row.code);
  }
  fail_internal("{} has no descr", dtype_name(dtype));
}

}  // namespace grurun::onnx_io
