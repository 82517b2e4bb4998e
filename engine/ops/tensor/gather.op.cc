// Gather (ai.onnx 1, 11, 13).
//
// output[a..., i..., b...] = data[a..., indices[i...], b...] with indices in place of the axis (default 0).
// Indices (int32 or int64) count from the end when negative since 11; one out of range is an error.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/broadcast.h"
#include "engine/ops/shared/copy_elements.h"
#include "tensor/dispatch.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

// The indices, each within [0, length).
template <typename Index>
ScratchVector<std::int64_t> places(const Tensor& indices, std::int64_t length, bool from_end) {
  ScratchVector<std::int64_t> at;
  at.reserve(static_cast<std::size_t>(indices.size()));
  for (const Index index : indices.span<Index>()) {
    const std::int64_t place = index < 0 && from_end ? index + length : std::int64_t{index};
    if (place < 0 || place >= length) refuse();
    at.push_back(place);
  }
  return at;
}

// to[k] = from[places[k]]. Narrow elements are put together: stored one by one they took 1.6 times as long as
// floats.
template <typename T>
void take_single(const T* from, const std::int64_t* places, std::int64_t first, std::int64_t last, T* to) {
  if constexpr (sizeof(T) < 4) {
    static_assert(std::endian::native == std::endian::little);
    constexpr std::int64_t together = 8 / sizeof(T);
    for (; first + together <= last; first += together) {
      std::uint64_t some = 0;
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < together; ++i)
        some |= std::uint64_t{from[places[first + i]]} << (8 * sizeof(T) * static_cast<std::size_t>(i));
      std::memcpy(to + first, &some, sizeof some);
    }
  }
  for (; first < last; ++first) to[first] = from[places[first]];
}

// to [before, at.size(), after] of from [before, length, after].
template <typename T>
void take(const T* from, std::int64_t before, std::int64_t length, std::int64_t after,
          std::span<const std::int64_t> at, T* to) {
  const auto count = static_cast<std::int64_t>(at.size());
  const std::int64_t grain = elements_per_piece / std::max<std::int64_t>(1, after) + 1;
  kernels::parallel_for(before * count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end;) {
      const T* const slab = from + i / count * length * after;
      const std::int64_t first = i % count, last = std::min(count, first + end - i);
      if (after == 1) take_single(slab, at.data(), first, last, to + i - first);
      for (std::int64_t k = first; after != 1 && k < last; ++k)
        std::copy_n(slab + at[k] * after, after, to + (i + k - first) * after);
      i += last - first;
    }
  });
}

Tensor gather(const Tensor& data, const Tensor& indices, std::size_t axis, bool from_end) {
  const ScratchVector<std::int64_t> at =
      dispatch(TypeList<std::int32_t, std::int64_t>{}, indices.dtype(),
               [&]<typename Index>() { return places<Index>(indices, data.dim(axis), from_end); });
  Shape shape;
  for (std::size_t d = 0; d < axis; ++d) shape.push_back(data.dim(d));
  for (const std::int64_t dim : indices.shape()) shape.push_back(dim);
  for (std::size_t d = axis + 1; d < data.rank(); ++d) shape.push_back(data.dim(d));
  Tensor out(data.dtype(), shape);
  if (out.size() == 0) return out;
  dispatch_width(data.dtype(), [&]<typename T>() {
    take(static_cast<const T*>(data.raw()), data.shape().count(0, axis), data.dim(axis),
         data.shape().count(axis + 1, data.rank()), at, static_cast<T*>(out.mutable_raw()));
  });
  return out;
}

RunFunction prepare_gather(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", 0);
  const bool from_end = node.since_version() >= 11;
  return [axis, from_end](RunContext& run) {
    const Tensor& data = run.tensor(0);
    const Tensor& indices = run.tensor(1);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(data.rank())));
    run.set_output(0, gather(data, indices, at, from_end));
  };
}

}  // namespace

std::vector<OpRow> op_rows_gather() {
  return {{"", "Gather", {1, 11, 13}, prepare_gather}};
}

}  // namespace grurun::engine
