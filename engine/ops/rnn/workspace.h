// The memory of a run of a layer, in parts that each begin at a cache line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/kernels/gates/recurrent.h"
#include "engine/kernels/machine/tuning.h"
#include "tensor/memory/memory.h"
#include "tensor/shape.h"

namespace grurun::engine::rnn {

namespace tuning = kernels::tuning;

/// Rows in a workspace. Where they begin in it is known before there is one.
template <typename Real>
struct Part : kernels::Rows<Real> {
  std::int64_t begin = 0;  // in elements

  void place_in(Real* workspace) { this->data = workspace + begin; }
};

/// Assigns offsets to parts, one after the other.
template <typename Real>
class WorkspaceLayout {
 public:
  /// For `rows` rows, `ld` elements apart; 0 rows: a part that is not used. Throws Error(limit) where sizes
  /// overflow.
  Part<Real> assign_offsets(std::int64_t rows, std::int64_t ld) {
    Part<Real> part;
    part.begin = elements_;
    part.ld = ld;
    if (rows > 0) elements_ = checked_add(elements_, whole_lines(checked_mul(rows, ld)));
    return part;
  }

  /// A single row of at least so many bytes.
  Part<Real> assign_bytes(std::int64_t bytes) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(Real));
    return assign_offsets(bytes > 0 ? 1 : 0, (bytes + size - 1) / size);
  }

  /// A multiple of a cache line.
  std::size_t bytes() const { return static_cast<std::size_t>(checked_mul(elements_, sizeof(Real))); }

 private:
  static std::int64_t whole_lines(std::int64_t elements) {
    constexpr std::int64_t line = tuning::cache_line / static_cast<std::int64_t>(sizeof(Real));
    return checked_add(elements, line - 1) / line * line;
  }

  std::int64_t elements_ = 0;
};

/// Calls body with so many bytes of memory that begin at a cache line.
template <typename Body>
void with_workspace(std::size_t bytes, Body body) {
  alignas(tuning::cache_line) std::byte few[tuning::workspace_on_stack];
  if (bytes <= sizeof few) return body(few);
  const memory::Block many(bytes);
  body(static_cast<std::byte*>(many.data()));
}

}  // namespace grurun::engine::rnn
