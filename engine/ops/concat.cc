#include "engine/ops/concat.h"

#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/copy_elements.h"
#include "tensor/error.h"

namespace grurun::engine {

Tensor concat(std::span<const Tensor> tensors, std::int64_t axis) {
  if (tensors.empty()) fail_invalid("there is nothing to join: at least one tensor is needed");
  const Tensor& first = tensors.front();
  const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(first.rank())));
  Shape shape = first.shape();
  shape[at] = 0;
  for (const Tensor& tensor : tensors) {
    bool fits = tensor.rank() == first.rank() && tensor.dtype() == first.dtype();
    for (std::size_t d = 0; fits && d < shape.rank(); ++d) fits = d == at || tensor.dim(d) == first.dim(d);
    if (!fits) {
      fail_invalid("{} {} cannot be joined with {} {} along axis {}", dtype_name(tensor.dtype()),
                   tensor.shape().to_string(), dtype_name(first.dtype()), first.shape().to_string(), at);
    }
    shape[at] = checked_add(shape[at], tensor.dim(at));
  }
  Tensor out(first.dtype(), shape);
  if (out.size() == 0) return out;
  const std::int64_t row = shape.count(at, shape.rank());
  std::int64_t place = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t run = tensor.shape().count(at, shape.rank());
    if (run == 0) continue;
    kernels::parallel_for(tensor.size(), 4 * elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t i = begin / run, within = begin - i * run;
        const std::int64_t count = std::min(run - within, end - begin);
        copy_elements(out, i * row + place + within, tensor, begin, count);
        begin += count;
      }
    });
    place += run;
  }
  return out;
}

}  // namespace grurun::engine
