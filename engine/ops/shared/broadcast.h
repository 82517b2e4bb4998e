// Broadcasting: the shape that operands combine to, and the walk over it in runs that a tight loop can take.
// (docs/Broadcasting.md of the standard; the limited form of Add-1 and its like, opset 1 to 6.)
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "engine/kernels/machine/parallel.h"
#include "tensor/memory/scratch.h"
#include "tensor/shape.h"

namespace grurun::engine {

/// What a thread takes at least of a loop over elements: less is done before another has begun.
constexpr std::int64_t elements_per_piece = 16384;

/// Multidirectional broadcasting. Refuses shapes that do not combine.
Shape broadcast_shape(const Shape& a, const Shape& b);

/// Unidirectional broadcasting: refuses unless `from` broadcasts to exactly `to`.
void require_broadcastable_to(const Shape& from, const Shape& to);

/// The limited broadcasting of opsets 1 to 6 (Add-1). Returns B's shape in A's rank: all 1 for one element,
/// else B's dimensions, A's own or 1 (as in ONNX's cases) from `axis` on, default: B is a suffix. Without
/// `broadcast` the shapes must be the same. Refuses others.
Shape limited_broadcast(const Shape& a, const Shape& b, bool broadcast, std::optional<std::int64_t> axis);

/// How up to three operands are read along an output: neighbouring dimensions that every operand steps
/// through alike are one, so that the innermost is as long as can be and each operand's stride along it is 0
/// or 1.
class BroadcastWalk {
 public:
  static constexpr std::size_t max_operands = 3;
  using Offsets = std::array<std::int64_t, max_operands>;

  /// Every operand must broadcast to output.
  BroadcastWalk(const Shape& output, std::initializer_list<const Shape*> operands);

  std::int64_t size() const { return size_; }

  /// True when the operand moves along a run, false when one element serves the whole run.
  bool steps(std::size_t operand) const { return inner_stride_[operand] != 0; }

  /// Calls run(output_offset, offsets, n), in elements, for runs that cover the output elements [begin, end).
  template <typename Run>
  void for_each(std::int64_t begin, std::int64_t end, Run&& run) const;

  /// The same for the whole output, split among threads in pieces of at least `grain` elements.
  template <typename Run>
  void parallel(std::int64_t grain, Run&& run) const {
    kernels::parallel_for(size_, grain,
                          [&](std::int64_t begin, std::int64_t end) { for_each(begin, end, run); });
  }

 private:
  struct Dim {
    std::int64_t extent;
    Offsets stride;
  };

  std::int64_t size_ = 0;
  std::int64_t inner_extent_ = 1;
  Offsets inner_stride_{};
  ScratchVector<Dim> outer_;  // outermost first
};

template <typename Run>
void BroadcastWalk::for_each(std::int64_t begin, std::int64_t end, Run&& run) const {
  if (begin >= end) return;
  std::int64_t row = begin / inner_extent_;
  std::int64_t column = begin % inner_extent_;
  ScratchVector<std::int64_t> index(outer_.size());
  Offsets base{};
  for (std::size_t d = outer_.size(); d-- > 0;) {
    index[d] = row % outer_[d].extent;
    row /= outer_[d].extent;
    for (std::size_t k = 0; k < max_operands; ++k) base[k] += index[d] * outer_[d].stride[k];
  }
  while (begin < end) {
    const std::int64_t n = std::min(inner_extent_ - column, end - begin);
    Offsets offsets = base;
    for (std::size_t k = 0; k < max_operands; ++k) offsets[k] += column * inner_stride_[k];
    run(begin, offsets, n);
    begin += n;
    column = 0;
    for (std::size_t d = outer_.size(); d-- > 0;) {
      const Dim& dim = outer_[d];
      for (std::size_t k = 0; k < max_operands; ++k) base[k] += dim.stride[k];
      if (++index[d] < dim.extent) break;
      index[d] = 0;
      for (std::size_t k = 0; k < max_operands; ++k) base[k] -= dim.extent * dim.stride[k];
    }
  }
}

}  // namespace grurun::engine
