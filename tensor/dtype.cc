#include "tensor/dtype.h"

#include <array>

#include "tensor/ascii_case.h"

namespace grurun {

namespace {

struct DTypeRow {
  const char* name;   // ONNX's spelling
  const char* numpy;  // numpy's or ml_dtypes' where it differs
  std::size_t bytes;
  int file_bits;
};

constexpr std::array<DTypeRow, dtype_count> rows = {{
    {"undefined", "", 0, 0},
    {"float", "float32", 4, 32},
    {"uint8", "", 1, 8},
    {"int8", "", 1, 8},
    {"uint16", "", 2, 16},
    {"int16", "", 2, 16},
    {"int32", "", 4, 32},
    {"int64", "", 8, 64},
    {"string", "object", sizeof(std::string), 0},
    {"bool", "", 1, 8},
    {"float16", "", 2, 16},
    {"double", "float64", 8, 64},
    {"uint32", "", 4, 32},
    {"uint64", "", 8, 64},
    {"complex64", "", 8, 64},
    {"complex128", "", 16, 128},
    {"bfloat16", "", 2, 16},
    {"float8e4m3fn", "float8_e4m3fn", 1, 8},
    {"float8e4m3fnuz", "float8_e4m3fnuz", 1, 8},
    {"float8e5m2", "float8_e5m2", 1, 8},
    {"float8e5m2fnuz", "float8_e5m2fnuz", 1, 8},
    {"uint4", "", 1, 4},
    {"int4", "", 1, 4},
    {"float4e2m1", "float4_e2m1fn", 1, 4},
    {"float8e8m0", "float8_e8m0fnu", 1, 8},
    {"uint2", "", 1, 2},
    {"int2", "", 1, 2},
    {"float6e2m3", "float6_e2m3fn", 1, 6},
    {"float6e3m2", "float6_e3m2fn", 1, 6},
}};

const DTypeRow& row(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return rows[index < rows.size() ? index : 0];
}

}  // namespace

std::size_t dtype_size(DType dtype) {
  return row(dtype).bytes;
}
int dtype_file_bits(DType dtype) {
  return row(dtype).file_bits;
}
const char* dtype_name(DType dtype) {
  return row(dtype).name;
}

DType parse_dtype(std::string_view name) {
  if (name.empty()) return DType::undefined;  // some types have no name in numpy
  const std::string lower = ascii_lower(name);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (lower == rows[i].name || lower == rows[i].numpy) return static_cast<DType>(i);
  }
  return DType::undefined;
}

bool is_valid_dtype(std::int64_t number) {
  return number > 0 && number < dtype_count;
}

bool is_floating(DType dtype) {
  constexpr DTypeSet set{DType::float32,      DType::float64,    DType::float16,        DType::bfloat16,
                         DType::float8e4m3fn, DType::float8e5m2, DType::float8e4m3fnuz, DType::float8e5m2fnuz,
                         DType::float4e2m1,   DType::float8e8m0, DType::float6e2m3,     DType::float6e3m2};
  return set.contains(dtype);
}

bool is_integer(DType dtype) {
  constexpr DTypeSet set{DType::uint8, DType::int8,  DType::uint16, DType::int16,
                         DType::int32, DType::int64, DType::uint32, DType::uint64,
                         DType::uint4, DType::int4,  DType::uint2,  DType::int2};
  return set.contains(dtype);
}

bool is_complex(DType dtype) {
  return dtype == DType::complex64 || dtype == DType::complex128;
}

}  // namespace grurun
