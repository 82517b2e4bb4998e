// From an element type at run time to a C++ type at compile time. Lists of types are named once, here, and
// give both the dispatch and the set that an operator's table states.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tensor/dtype.h"
#include "tensor/error.h"

namespace grurun {

template <typename... Types>
struct TypeList {
  static constexpr DTypeSet set{dtype_of<Types>...};
};

template <typename... Lists>
struct Joined;
template <typename... A>
struct Joined<TypeList<A...>> {
  using type = TypeList<A...>;
};
template <typename... A, typename... B, typename... Rest>
struct Joined<TypeList<A...>, TypeList<B...>, Rest...> {
  using type = typename Joined<TypeList<A..., B...>, Rest...>::type;
};
/// One list of all types of several lists.
template <typename... Lists>
using Join = typename Joined<Lists...>::type;

using SignedIntegers = TypeList<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedIntegers = TypeList<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using Integers = Join<SignedIntegers, UnsignedIntegers>;
using Floats = TypeList<float, double, Float16, BFloat16>;  // those that are computed with
using Float8s = TypeList<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>;
using SmallInts = TypeList<Int4, UInt4, Int2, UInt2>;
using Numbers = Join<Floats, Integers>;
using Complexes = TypeList<Complex64, Complex128>;
using SmallFloats = Join<Float8s, TypeList<Float8E8M0, Float4E2M1, Float6E2M3, Float6E3M2>>;
using AllTypes = Join<Numbers, SmallFloats, SmallInts, Complexes, TypeList<bool, std::string>>;

/// Calls body.template operator()<T>() for the type in the list that dtype names and returns its result.
/// Throws Error(unsupported) when the list lacks it.
template <typename... Types, typename Body>
decltype(auto) dispatch(TypeList<Types...>, DType dtype, Body&& body) {
  using Result = std::common_type_t<decltype(body.template operator()<Types>())...>;
  if constexpr (std::is_void_v<Result>) {
    const bool found =
        ((dtype == dtype_of<Types> ? (body.template operator()<Types>(), true) : false) || ...);
    if (!found) fail_unsupported("no kernel for element type {}", dtype_name(dtype));
  } else {
    Result result{};
    const bool found =
        ((dtype == dtype_of<Types> ? (result = body.template operator()<Types>(), true) : false) || ...);
    if (!found) fail_unsupported("no kernel for element type {}", dtype_name(dtype));
    return result;
  }
}

namespace detail {
struct Bytes16 {
  std::uint64_t low, high;
};
}  // namespace detail

/// For operators that only move elements: calls body with a type of the element's width (std::string for
/// strings), so that one instantiation serves every type of that width. Read with static_cast<const
/// T*>(tensor.raw()).
template <typename Body>
decltype(auto) dispatch_width(DType dtype, Body&& body) {
  if (dtype == DType::string) return body.template operator()<std::string>();
  switch (dtype_size(dtype)) {
    case 1:
      return body.template operator()<std::uint8_t>();
    case 2:
      return body.template operator()<std::uint16_t>();
    case 4:
      return body.template operator()<std::uint32_t>();
    case 8:
      return body.template operator()<std::uint64_t>();
    case 16:
      return body.template operator()<detail::Bytes16>();
    default:
      fail_unsupported("no kernel for element type {}", dtype_name(dtype));
  }
}

/// The type an element is computed in: float for floating types of at most 16 bits, the type itself
/// otherwise.
template <typename T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ||
                           std::is_same_v<T, Float8E4M3FN> || std::is_same_v<T, Float8E4M3FNUZ> ||
                           std::is_same_v<T, Float8E5M2> || std::is_same_v<T, Float8E5M2FNUZ> ||
                           std::is_same_v<T, Float4E2M1> || std::is_same_v<T, Float6E2M3> ||
                           std::is_same_v<T, Float6E3M2> || std::is_same_v<T, Float8E8M0>,
                       float, T>;

/// True for float, double, Float16, BFloat16.
template <typename T>
inline constexpr bool is_compute_float =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

}  // namespace grurun
