#include "engine/ops/shared/broadcast.h"

#include <cstddef>
#include <memory_resource>

#include "engine/graph/refusal.h"

namespace grurun::engine {

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const std::size_t offset = longer.rank() - shorter.rank();
  for (std::size_t i = 0; i < shorter.rank(); ++i) {
    const std::int64_t p = longer[offset + i];
    const std::int64_t q = shorter[i];
    if (p != q && p != 1 && q != 1) refuse();
    out[offset + i] = p == 1 ? q : p;
  }
  return out;
}

void require_broadcastable_to(const Shape& from, const Shape& to) {
  bool fits = from.rank() <= to.rank();
  for (std::size_t i = 0; fits && i < from.rank(); ++i) {
    const std::int64_t dim = from[from.rank() - 1 - i];
    fits = dim == 1 || dim == to[to.rank() - 1 - i];
  }
  if (!fits) refuse();
}

Shape limited_broadcast(const Shape& a, const Shape& b, bool broadcast, std::optional<std::int64_t> axis) {
  if (!broadcast) {
    if (a == b) return b;
    refuse();
  }
  Shape out = a;
  for (std::size_t i = 0; i < out.rank(); ++i) out[i] = 1;
  if (b.element_count() == 1) {
    if (b.rank() <= a.rank()) return out;
    refuse();
  }
  const auto rank_a = static_cast<std::int64_t>(a.rank());
  const auto rank_b = static_cast<std::int64_t>(b.rank());
  const std::int64_t start = axis.value_or(rank_a - rank_b);
  bool fits = start >= 0 && start <= rank_a - rank_b;
  for (std::int64_t i = 0; fits && i < rank_b; ++i) {
    out[start + i] = b[i];
    fits = b[i] == a[start + i] || b[i] == 1;
  }
  if (!fits) refuse();
  return out;
}

BroadcastWalk::BroadcastWalk(const Shape& output, std::initializer_list<const Shape*> operands)
    : size_(output.element_count()) {
  if (size_ == 0) return;
  // Innermost first; a dimension joins the one before it when every operand's stride continues.
  alignas(Dim) std::array<std::byte, 16 * sizeof(Dim)> near;  // most ranks need no memory from elsewhere
  std::pmr::monotonic_buffer_resource memory(near.data(), near.size());
  std::pmr::vector<Dim> dims(&memory);
  dims.reserve(std::min<std::size_t>(output.rank(), 16));
  Offsets next{};  // product of each operand's dimensions seen so far
  next.fill(1);
  for (std::size_t back = 0; back < output.rank(); ++back) {
    const std::int64_t extent = output[output.rank() - 1 - back];
    if (extent == 1) continue;
    Dim dim{extent, {}};
    std::size_t k = 0;
    for (const Shape* operand : operands) {
      const std::int64_t own = back < operand->rank() ? (*operand)[operand->rank() - 1 - back] : 1;
      dim.stride[k] = own == 1 ? 0 : next[k];
      next[k] *= own;
      ++k;
    }
    bool joins = !dims.empty();
    for (std::size_t i = 0; joins && i < k; ++i) {
      joins = dim.stride[i] == dims.back().stride[i] * dims.back().extent;
    }
    if (joins) {
      dims.back().extent *= extent;
    } else {
      dims.push_back(dim);
    }
  }
  if (dims.empty()) return;
  inner_extent_ = dims.front().extent;
  inner_stride_ = dims.front().stride;
  outer_.assign(dims.rbegin(), dims.rend() - 1);
}

}  // namespace grurun::engine
