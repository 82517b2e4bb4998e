#include "engine/ops/shared/strided.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_transpose.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct Axis {
  std::int64_t size, to, from;  // strides in elements on both sides
};

// Axes of size 1 dropped and neighbours merged that are one run on both sides, so that the inner loop is as
// long as possible.
ScratchVector<Axis> collapse(const Shape& shape, std::span<const std::int64_t> to,
                             std::span<const std::int64_t> from) {
  ScratchVector<Axis> axes;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    const Axis axis{shape[d], to[d], from[d]};
    if (!axes.empty() && axes.back().to == axis.to * axis.size && axes.back().from == axis.from * axis.size) {
      axes.back() = {axes.back().size * axis.size, axis.to, axis.from};
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

// to[i] = from[-i].
template <typename T>
void copy_backwards(T* to, const T* from, std::int64_t size) {
  std::int64_t i = 0;
  if constexpr (sizeof(T) == 1) {  // of which compilers make no vectors
    for (; i + 8 <= size; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, from - i - 7, sizeof eight);
      eight = __builtin_bswap64(eight);
      std::memcpy(to + i, &eight, sizeof eight);
    }
  }
  std::reverse_copy(from - (size - 1), from - i + 1, to + i);
}

template <typename T>
void copy_row(T* to, const T* from, const Axis& axis) {
  if constexpr (std::is_unsigned_v<T>) {
    if (axis.to == 1 && axis.from == 2) return kernels::vec_every_second(from, axis.size, to);
  }
  if (axis.to == 1 && axis.from == 1) {
    std::copy_n(from, axis.size, to);
  } else if (axis.to == 1 && axis.from == 0) {
    std::fill_n(to, axis.size, *from);
  } else if (axis.to == 1 && axis.from == -1) {
    copy_backwards(to, from, axis.size);
  } else {
    for (std::int64_t i = 0; i < axis.size; ++i) to[i * axis.to] = from[i * axis.from];
  }
}

// Runs of so few elements that a call for each would take longer than the copy; false if they are not few.
template <typename T>
bool copy_short_runs(T* to, const T* from, const Axis& outer, std::int64_t length) {
  const auto copy = [&]<int n>() {
    for (std::int64_t i = 0; i < outer.size; ++i) std::copy_n(from + i * outer.from, n, to + i * outer.to);
    return true;
  };
  switch (length) {
    case 2:
      return copy.template operator()<2>();
    case 3:
      return copy.template operator()<3>();
    case 4:
      return copy.template operator()<4>();
    case 8:
      return copy.template operator()<8>();
    default:
      return false;
  }
}

// Two inner axes where the long run of one side is not that of the other: transposed, or in square tiles, so
// that both sides stay in cache.
template <typename T>
void copy_plane(T* to, const T* from, const Axis& outer, const Axis& inner) {
  constexpr std::int64_t tile = 16;
  const bool crossed = std::abs(inner.from) > std::abs(outer.from) && outer.from != 0;
  if (!crossed) {
    if (inner.to == 1 && inner.from == 1 && copy_short_runs(to, from, outer, inner.size)) return;
    for (std::int64_t i = 0; i < outer.size; ++i) copy_row(to + i * outer.to, from + i * outer.from, inner);
    return;
  }
  if constexpr (std::is_unsigned_v<T>) {
    if (inner.to == 1 && outer.from == 1)
      return kernels::vec_transpose(from, inner.from, inner.size, outer.size, to, outer.to);
  }
  for (std::int64_t i0 = 0; i0 < outer.size; i0 += tile) {
    for (std::int64_t j0 = 0; j0 < inner.size; j0 += tile) {
      const std::int64_t i1 = std::min(i0 + tile, outer.size);
      const std::int64_t j1 = std::min(j0 + tile, inner.size);
      for (std::int64_t i = i0; i < i1; ++i) {
        for (std::int64_t j = j0; j < j1; ++j) {
          to[i * outer.to + j * inner.to] = from[i * outer.from + j * inner.from];
        }
      }
    }
  }
}

template <typename T>
void copy_axes(T* to, const T* from, const Axis* axes, std::size_t count) {
  if (count == 1) return copy_row(to, from, axes[0]);
  if (count == 2) return copy_plane(to, from, axes[0], axes[1]);
  for (std::int64_t i = 0; i < axes[0].size; ++i) {
    copy_axes(to + i * axes[0].to, from + i * axes[0].from, axes + 1, count - 1);
  }
}

}  // namespace

ScratchVector<std::int64_t> row_major_strides(const Shape& shape) {
  ScratchVector<std::int64_t> strides(shape.rank());
  std::uint64_t stride = 1;  // beyond 63 bits only beside a dimension of 0, which makes it 0 in the end
  for (std::size_t d = shape.rank(); d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(shape[d]);
  }
  if (stride == 0) std::ranges::fill(strides, 0);
  return strides;
}

void strided_copy_into(Tensor& target, std::int64_t target_offset,
                       std::span<const std::int64_t> target_strides, const Tensor& source,
                       std::int64_t source_offset, std::span<const std::int64_t> source_strides,
                       const Shape& shape) {
  if (shape.element_count() == 0) return;
  const ScratchVector<Axis> axes = collapse(shape, target_strides, source_strides);
  dispatch_width(source.dtype(), [&]<typename T>() {
    T* to = static_cast<T*>(target.mutable_raw()) + target_offset;
    const T* from = static_cast<const T*>(source.raw()) + source_offset;
    const std::int64_t inner = shape.element_count() / axes[0].size;
    const std::int64_t grain = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, inner));
    kernels::parallel_for(axes[0].size, grain, [&](std::int64_t begin, std::int64_t end) {
      ScratchVector<Axis> part = axes;
      part[0].size = end - begin;
      copy_axes(to + begin * axes[0].to, from + begin * axes[0].from, part.data(), part.size());
    });
  });
}

Tensor strided_copy(const Tensor& source, std::int64_t offset, const Shape& shape,
                    std::span<const std::int64_t> strides) {
  Tensor out(source.dtype(), shape);
  strided_copy_into(out, 0, row_major_strides(shape), source, offset, strides, shape);
  return out;
}

}  // namespace grurun::engine
