// From an element type at run time to its C++ type, for every type that a tensor can hold.
#pragma once

#include <string>

#include "tensor/dtype.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

/// Calls visit.template operator()<T>() for the type T that dtype names.
template <typename Visit>
void visit_element_type(DType dtype, Visit&& visit) {
  const auto visit_each = [&]<typename... Types>() {
    return ((dtype == dtype_of<Types> && (visit.template operator()<Types>(), true)) || ...);
  };
  const bool found =
      visit_each.template
      operator()<float, double, Float16, BFloat16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                 std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, bool, std::string, Complex64,
                 Complex128, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float8E8M0, Float4E2M1,
                 Float6E2M3, Float6E3M2, UInt4, Int4, UInt2, Int2>();
  if (!found) fail_internal("{} is no element type", static_cast<int>(dtype));
}

}  // namespace grurun::onnx_io
