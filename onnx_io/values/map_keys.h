// The element types that a map's keys can have: string, and the integers of 8 bits and more.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace grurun::onnx_io {

/// Calls visit with a zero of the integer type that dtype names; Error(invalid_model) when no map has such
/// keys.
template <typename Visit>
auto visit_integer_key(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::int8:
      return visit(std::int8_t{});
    case DType::int16:
      return visit(std::int16_t{});
    case DType::int32:
      return visit(std::int32_t{});
    case DType::int64:
      return visit(std::int64_t{});
    case DType::uint8:
      return visit(std::uint8_t{});
    case DType::uint16:
      return visit(std::uint16_t{});
    case DType::uint32:
      return visit(std::uint32_t{});
    case DType::uint64:
      return visit(std::uint64_t{});
    default:
      fail_invalid("the keys of a map cannot be {}", dtype_name(dtype));
  }
}

/// Throws Error(invalid_model) when a key is there twice, so that nothing would say which value is meant.
/// keys is 1-D, of a type that a map's keys can have.
void require_distinct_keys(const Tensor& keys);

}  // namespace grurun::onnx_io
