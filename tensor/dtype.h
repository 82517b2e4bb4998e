// The element types of the standard, numbered as TensorProto.DataType numbers them (onnx 1.23,
// onnx-ml.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "tensor/element_types.h"

namespace grurun {

enum class DType : std::uint8_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28,
};

inline constexpr int dtype_count = 29;

/// Bytes that one element takes in memory (6-, 4- and 2-bit types: 1; string: sizeof(std::string)). 0 for
/// undefined.
std::size_t dtype_size(DType dtype);

/// Bits that one element takes in a file: 6, 4 and 2 for the packed types. 0 for string and undefined.
int dtype_file_bits(DType dtype);

/// ONNX's spelling: "float", "double", "int64", "bool", "float8e4m3fn", ...
const char* dtype_name(DType dtype);

/// Takes ONNX's spelling, numpy's (float32, float64) and TensorProto's (FLOAT). undefined when unknown.
DType parse_dtype(std::string_view name);

/// True for a number TensorProto.DataType assigns to a type that tensors can hold.
bool is_valid_dtype(std::int64_t number);

bool is_floating(DType dtype);  // every real floating-point type, float8, float6 and float4 included
bool is_integer(DType dtype);   // every signed or unsigned integer, not bool
bool is_complex(DType dtype);

/// A set of element types, one bit each.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  template <typename... Rest>
  constexpr DTypeSet(DType first, Rest... rest) : bits_((bit(first) | ... | bit(rest))) {}

  static constexpr DTypeSet all() {
    DTypeSet set;
    set.bits_ = ((1u << dtype_count) - 1) & ~1u;
    return set;
  }
  constexpr bool contains(DType dtype) const { return (bits_ & bit(dtype)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DTypeSet operator|(DTypeSet other) const { return from_bits(bits_ | other.bits_); }
  constexpr DTypeSet operator&(DTypeSet other) const { return from_bits(bits_ & other.bits_); }
  constexpr bool operator==(const DTypeSet&) const = default;

 private:
  static constexpr std::uint32_t bit(DType dtype) { return 1u << static_cast<unsigned>(dtype); }
  static constexpr DTypeSet from_bits(std::uint32_t bits) {
    DTypeSet set;
    set.bits_ = bits;
    return set;
  }
  std::uint32_t bits_ = 0;
};

namespace detail {
template <typename T>
struct DTypeOf;  // not defined for types that no tensor holds
#define GRURUN_DTYPE(TYPE, NAME)                \
  template <>                                   \
  struct DTypeOf<TYPE> {                        \
    static constexpr DType value = DType::NAME; \
  };
GRURUN_DTYPE(float, float32)
GRURUN_DTYPE(double, float64)
GRURUN_DTYPE(std::uint8_t, uint8)
GRURUN_DTYPE(std::int8_t, int8)
GRURUN_DTYPE(std::uint16_t, uint16)
GRURUN_DTYPE(std::int16_t, int16)
GRURUN_DTYPE(std::int32_t, int32)
GRURUN_DTYPE(std::int64_t, int64)
GRURUN_DTYPE(std::uint32_t, uint32)
GRURUN_DTYPE(std::uint64_t, uint64)
GRURUN_DTYPE(bool, boolean)
GRURUN_DTYPE(std::string, string)
GRURUN_DTYPE(Float16, float16)
GRURUN_DTYPE(BFloat16, bfloat16)
GRURUN_DTYPE(Complex64, complex64)
GRURUN_DTYPE(Complex128, complex128)
GRURUN_DTYPE(Float8E4M3FN, float8e4m3fn)
GRURUN_DTYPE(Float8E4M3FNUZ, float8e4m3fnuz)
GRURUN_DTYPE(Float8E5M2, float8e5m2)
GRURUN_DTYPE(Float8E5M2FNUZ, float8e5m2fnuz)
GRURUN_DTYPE(Float4E2M1, float4e2m1)
GRURUN_DTYPE(Float8E8M0, float8e8m0)
GRURUN_DTYPE(Float6E2M3, float6e2m3)
GRURUN_DTYPE(Float6E3M2, float6e3m2)
GRURUN_DTYPE(UInt4, uint4)
GRURUN_DTYPE(Int4, int4)
GRURUN_DTYPE(UInt2, uint2)
GRURUN_DTYPE(Int2, int2)
#undef GRURUN_DTYPE
}  // namespace detail

/// dtype_of<float> == DType::float32, and so on for every element type.
template <typename T>
inline constexpr DType dtype_of = detail::DTypeOf<std::remove_cv_t<T>>::value;

}  // namespace grurun
