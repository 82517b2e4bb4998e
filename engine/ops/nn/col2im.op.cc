// Col2Im (ai.onnx 18).
//
//   output[n, c, o * stride - pad + k * dilation] += input[n, c * K + k, o] for every place k of the block
//   and every block o that lies so; what falls into the padding is left out
//
// input [N, C * K, L], image_shape [d], block_shape [d] with K places -> output [N, C, I1...Id]. Blocks are
// counted row-major, L of them. Sums of integers wrap, 16-bit floats are summed in float, sums of bool are
// their disjunction; strings cannot be added, so that no two may meet.
#include <algorithm>
#include <complex>
#include <string>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/add_rows.h"
#include "engine/ops/shared/float_pieces.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/window.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct Blocks {
  WindowAxes axes;  // input is the image's length, output the number of blocks
  std::int64_t block_size, block_count, image_size;
};

// The blocks o of the axis whose place k lies inside the image: [begin, end).
std::pair<std::int64_t, std::int64_t> inside(const WindowAxis& axis, std::int64_t k) {
  const std::int64_t offset = k * axis.dilation - axis.pad_begin;
  const std::int64_t begin = offset >= 0 ? 0 : (-offset + axis.stride - 1) / axis.stride;
  const std::int64_t end = offset >= axis.input ? 0 : (axis.input - offset - 1) / axis.stride + 1;
  return {begin, std::min(end, axis.output)};
}

// Blocks that place k of the block has along the last two axes: rows of `count` blocks each. Where the first
// of them stands in the image and in the columns, and how far rows, and blocks of a row, are apart.
struct Patch {
  std::int64_t rows, count;
  std::int64_t at, row_step, step;
  std::int64_t column, row_columns;
};

// Calls run(patch) for all patches of this place.
template <typename Run>
void for_each_patch(const Blocks& blocks, std::span<const std::int64_t> place, Run&& run) {
  const WindowAxes& axes = blocks.axes;
  const std::size_t last = axes.size() - 1, outer = last == 0 ? 0 : last - 1;
  ScratchVector<std::pair<std::int64_t, std::int64_t>> range;
  ScratchVector<std::int64_t> block;
  for (std::size_t d = 0; d <= last; ++d) {
    range.push_back(inside(axes[d], place[d]));
    block.push_back(range[d].first);
    if (range[d].first >= range[d].second) return;
  }
  Patch patch{.rows = last == 0 ? 1 : range[outer].second - range[outer].first,
              .count = range[last].second - range[last].first,
              .at = 0,
              .row_step = axes[outer].stride * axes[last].input,
              .step = axes[last].stride,
              .column = 0,
              .row_columns = axes[last].output};
  while (true) {
    patch.at = patch.column = 0;
    for (std::size_t d = 0; d <= last; ++d) {
      patch.at = patch.at * axes[d].input + axes[d].start(block[d]) + place[d] * axes[d].dilation;
      patch.column = patch.column * axes[d].output + block[d];
    }
    run(patch);
    std::size_t d = outer;
    while (d-- > 0) {
      if (++block[d] < range[d].second) break;
      block[d] = range[d].first;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

// All patches of one plane, their columns counted from the plane's first.
template <typename Run>
void for_each_patch(const Blocks& blocks, Run&& run) {
  ScratchVector<std::int64_t> place(blocks.axes.size(), 0);
  for (std::int64_t k = 0; k < blocks.block_size; ++k) {
    for_each_patch(blocks, place, [&](Patch patch) {
      patch.column += k * blocks.block_count;
      run(patch);
    });
    for (std::size_t d = place.size(); d-- > 0;) {
      if (++place[d] < blocks.axes[d].kernel) break;
      place[d] = 0;
    }
  }
}

// All columns of one plane: body(element of the image, element of the columns).
template <typename Body>
void for_each_element(const Blocks& blocks, Body&& body) {
  for_each_patch(blocks, [&](const Patch& patch) {
    for (std::int64_t r = 0; r < patch.rows; ++r) {
      const std::int64_t at = patch.at + r * patch.row_step, from = patch.column + r * patch.row_columns;
      if (patch.step == 1) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < patch.count; ++i) body(at + i, from + i);
      } else {
        for (std::int64_t i = 0; i < patch.count; ++i) body(at + i * patch.step, from + i);
      }
    }
  });
}

// Of its own, so that stores of bytes change no pointer of the loops around it.
template <typename T>
void add_run(const T* __restrict from, std::int64_t count, T* __restrict to, std::int64_t step) {
  if (step == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = wrapping_add(to[i], from[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i * step] = wrapping_add(to[i * step], from[i]);
  }
}

template <typename T>
void add_plane(const Blocks& blocks, const T* columns, T* image) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::vector<bool> taken(static_cast<std::size_t>(blocks.image_size));
    for_each_element(blocks, [&](std::int64_t to, std::int64_t from) {
      if (taken[static_cast<std::size_t>(to)])
        fail_unsupported("blocks overlap, but strings cannot be added");
      taken[static_cast<std::size_t>(to)] = true;
      image[to] = columns[from];
    });
  } else if constexpr (std::is_same_v<T, bool>) {
    for_each_element(blocks,
                     [&](std::int64_t to, std::int64_t from) { image[to] = image[to] || columns[from]; });
  } else if constexpr (std::is_same_v<ComputeType<T>, T>) {
    if constexpr (std::is_floating_point_v<T>) {
      if (blocks.axes.back().stride == 1) {
        return for_each_patch(blocks, [&](const Patch& patch) {
          kernels::add_rows(columns + patch.column, patch.row_columns, patch.rows, patch.count,
                            image + patch.at, patch.row_step);
        });
      }
    }
    for_each_patch(blocks, [&](const Patch& patch) {
      for (std::int64_t r = 0; r < patch.rows; ++r) {
        add_run(columns + patch.column + r * patch.row_columns, patch.count,
                image + patch.at + r * patch.row_step, patch.step);
      }
    });
  } else {
    const std::int64_t column_count = blocks.block_size * blocks.block_count;
    PieceReader<T> reader(columns);
    PieceWriter<T> writer(image);
    float* const sums = writer.begin(0, blocks.image_size);
    std::fill_n(sums, blocks.image_size, 0.0f);
    add_plane(blocks, reader.read(0, column_count), sums);
    writer.end();
  }
}

Blocks plan_blocks(const Shape& input, std::span<const std::int64_t> image,
                   std::span<const std::int64_t> block, const WindowAttributes& window) {
  if (input.rank() != 3) refuse();
  if (image.empty()) refuse();
  require_lengths(image, 1, "image_shape");
  require_lengths(block, 1, "block_shape");
  Blocks blocks{window_axes(window, image, block), checked_product(block), 1, checked_product(image)};
  for (const WindowAxis& axis : blocks.axes)
    blocks.block_count = checked_mul(blocks.block_count, axis.output);
  if (input[1] % blocks.block_size != 0) refuse();
  if (input[2] != blocks.block_count) refuse();
  return blocks;
}

RunFunction prepare_col2im(PrepareContext& node) {
  const WindowAttributes window = window_attributes(node, {.kernel_shape = false, .auto_pad = false});
  return [window](RunContext& run) {
    const Tensor& input = run.tensor(0);
    for (const std::size_t i : {1, 2})
      if (run.tensor(i).rank() != 1) refuse();
    const ScratchVector<std::int64_t> image = integer_list(run.tensor(1));
    const Blocks blocks = plan_blocks(input.shape(), image, integer_list(run.tensor(2)), window);
    Shape shape{input.dim(0), input.dim(1) / blocks.block_size};
    for (const std::int64_t length : image) shape.push_back(length);
    Tensor output = Tensor::zeros(input.dtype(), shape);
    const std::int64_t column_size = checked_mul(blocks.block_size, blocks.block_count);
    dispatch(Join<Numbers, Complexes, TypeList<bool, std::string>>{}, input.dtype(), [&]<typename T>() {
      const T* from = input.data<T>();
      T* to = output.mutable_data<T>();
      kernels::parallel_for(shape[0] * shape[1], 16384 / column_size + 1,
                            [&](std::int64_t begin, std::int64_t end) {
                              for (std::int64_t plane = begin; plane < end; ++plane)
                                add_plane(blocks, from + plane * column_size, to + plane * blocks.image_size);
                            });
    });
    run.set_output(0, output);
  };
}

}  // namespace

std::vector<OpRow> op_rows_col2im() {
  return {{"", "Col2Im", {18}, prepare_col2im}};
}

}  // namespace grurun::engine
