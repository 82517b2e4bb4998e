// Pieces of an array of floats as elements of the type that they are computed in. 16-bit floats are converted
// piece by piece, which stays in the cache where a whole tensor would not; others are read and written where
// they lie.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/kernels/vec/vec_convert.h"
#include "tensor/dispatch.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

/// T is float, double, Float16 or BFloat16.
template <typename T>
class PieceReader {
 public:
  using C = ComputeType<T>;

  explicit PieceReader(const T* elements) : elements_(elements) {}

  /// The elements [at, at + n), until the next piece is read.
  const C* read(std::int64_t at, std::int64_t n) {
    if constexpr (std::is_same_v<T, C>) {
      return elements_ + at;
    } else {
      wide_.resize(static_cast<std::size_t>(n));
      kernels::vec_convert(elements_ + at, wide_.data(), n);
      return wide_.data();
    }
  }

 private:
  const T* elements_;
  ScratchVector<C> wide_;
};

/// The same for results, rounded once.
template <typename T>
class PieceWriter {
 public:
  using C = ComputeType<T>;

  explicit PieceWriter(T* elements) : elements_(elements) {}

  /// Where the elements [at, at + n) go, until end().
  C* begin(std::int64_t at, std::int64_t n) {
    if constexpr (std::is_same_v<T, C>) {
      return elements_ + at;
    } else {
      at_ = at;
      wide_.resize(static_cast<std::size_t>(n));
      return wide_.data();
    }
  }
  void end() {
    if constexpr (!std::is_same_v<T, C>)
      kernels::vec_convert(wide_.data(), elements_ + at_, static_cast<std::int64_t>(wide_.size()));
  }

 private:
  T* elements_;
  std::int64_t at_ = 0;
  ScratchVector<C> wide_;
};

}  // namespace grurun::engine
