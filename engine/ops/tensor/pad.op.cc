// Pad (ai.onnx 1, 2, 11, 13, 18, 19, 21, 23, 24, 25).
//
// Each axis gets pads[begin] elements before and pads[end] after; a negative count removes elements. mode
// says what they hold: constant (a value, by default 0, false or ""), reflect (mirrored without the border),
// edge (the border repeated), wrap (since 19: the tensor repeated). pads lists all begins, then all ends: an
// attribute (paddings in version 1) before 11, an input since, of the axes that the input axes names (since
// 18).

#include <algorithm>
#include <optional>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/index_loop.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

enum class Mode { constant, reflect, edge, wrap };

Mode mode_attribute(PrepareContext& node) {
  const std::string mode = node.string_attribute("mode", "constant");
  if (mode == "constant") return Mode::constant;
  if (mode == "reflect") return Mode::reflect;
  return mode == "edge" ? Mode::edge : Mode::wrap;
}

std::int64_t modulo(std::int64_t a, std::int64_t n) {
  return (a % n + n) % n;
}

// The element that stands at place (which may lie outside) of an axis of this length.
std::int64_t source_place(std::int64_t place, std::int64_t length, Mode mode) {
  if (place >= 0 && place < length) return place;
  if (mode == Mode::edge) return place < 0 ? 0 : length - 1;
  if (mode == Mode::wrap) return modulo(place, length);
  if (length == 1) return 0;
  const std::int64_t period = 2 * (length - 1);
  const std::int64_t in_period = modulo(place, period);
  return in_period < length ? in_period : period - in_period;
}

struct Padding {
  ScratchVector<std::int64_t> begin, end;  // by axis of the input
};

Shape padded_shape(const Shape& input, const Padding& padding) {
  Shape shape = input;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    shape[d] = checked_add(checked_add(shape[d], padding.begin[d]), padding.end[d]);
    if (shape[d] < 0) refuse();
  }
  return shape;
}

// Which places of an axis of the output hold elements of the input: [first, last), the first of them is
// `from` of the input's axis.
struct Kept {
  std::int64_t first, last, from;
};

Kept kept_of(std::int64_t length, std::int64_t begin, std::int64_t padded_length) {
  const std::int64_t first = std::clamp<std::int64_t>(begin, 0, padded_length);
  const std::int64_t last = std::clamp<std::int64_t>(begin + length, first, padded_length);
  return {first, last, first - begin};
}

// Rows of the last padded axis and what lies within it, written from front to back.
Tensor pad_constant(const Tensor& input, const Padding& padding, const Tensor& value) {
  std::size_t rank = input.rank();  // up to the last padded axis
  while (rank > 0 && padding.begin[rank - 1] == 0 && padding.end[rank - 1] == 0) --rank;
  if (rank == 0) return input;
  const Shape shape = padded_shape(input.shape(), padding);
  Tensor out(input.dtype(), shape);
  if (out.size() == 0) return out;
  ScratchVector<Kept> kept;
  for (std::size_t d = 0; d < rank; ++d) kept.push_back(kept_of(input.dim(d), padding.begin[d], shape[d]));
  const ScratchVector<std::int64_t> strides = row_major_strides(input.shape());
  const std::int64_t unit = shape.count(rank, shape.rank()), row = shape[rank - 1] * unit;
  const Kept& within = kept[rank - 1];
  const std::int64_t before = within.first * unit, copied = (within.last - within.first) * unit;
  const std::int64_t rows = shape.count(0, rank - 1);
  dispatch_width(input.dtype(), [&]<typename T>() {
    const T* const from = static_cast<const T*>(input.raw());
    T* const to = static_cast<T*>(out.mutable_raw());
    const T filler = *static_cast<const T*>(value.raw());
    // Where in the input a row of the output comes from; nowhere, if it is padding.
    const auto source_of = [&](std::int64_t r) -> std::optional<std::int64_t> {
      std::int64_t at = within.from * unit;
      for (std::size_t d = rank - 1; d-- > 0; r /= shape[d]) {
        const std::int64_t place = r % shape[d];
        if (place < kept[d].first || place >= kept[d].last) return std::nullopt;
        at += (place - kept[d].first + kept[d].from) * strides[d];
      }
      return at;
    };
    kernels::parallel_for(
        rows, std::max<std::int64_t>(1, 65536 / row), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            T* place = to + r * row;
            const std::optional<std::int64_t> source = copied > 0 ? source_of(r) : std::nullopt;
            place = std::fill_n(place, source ? before : row, filler);
            if (!source) continue;
            place = std::copy_n(from + *source, copied, place);
            std::fill_n(place, row - before - copied, filler);
          }
        });
  });
  return out;
}

Tensor pad_from_input(const Tensor& input, const Padding& padding, Mode mode) {
  if (input.rank() == 0) return input;
  const Shape shape = padded_shape(input.shape(), padding);
  Tensor out(input.dtype(), shape);
  if (out.size() == 0) return out;
  if (input.size() == 0) refuse();
  // The offset that each place of each axis adds.
  const ScratchVector<std::int64_t> strides = row_major_strides(input.shape());
  ScratchVector<ScratchVector<std::int64_t>> offsets(shape.rank());
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    for (std::int64_t i = 0; i < shape[d]; ++i) {
      offsets[d].push_back(source_place(i - padding.begin[d], input.dim(d), mode) * strides[d]);
    }
  }
  const std::size_t last = shape.rank() - 1;
  const Kept kept = kept_of(input.dim(last), padding.begin[last], shape[last]);
  const std::int64_t row = shape[last], rows = shape.count(0, last);
  dispatch_width(input.dtype(), [&]<typename T>() {
    const T* const from = static_cast<const T*>(input.raw());
    T* const to = static_cast<T*>(out.mutable_raw());
    kernels::parallel_for(
        rows, std::max<std::int64_t>(1, 65536 / row), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            std::int64_t base = 0, rest = r;
            for (std::size_t d = last; d-- > 0; rest /= shape[d])
              base += offsets[d][static_cast<std::size_t>(rest % shape[d])];
            const std::int64_t* offset = offsets[last].data();
            T* const target = to + r * row;
            for (std::int64_t i = 0; i < kept.first; ++i) target[i] = from[base + offset[i]];
            std::copy_n(from + base + kept.from, kept.last - kept.first, target + kept.first);
            for (std::int64_t i = kept.last; i < row; ++i) target[i] = from[base + offset[i]];
          }
        });
  });
  return out;
}

Padding padding_of(std::span<const std::int64_t> pads, std::optional<std::span<const std::int64_t>> axes,
                   std::size_t rank) {
  const std::size_t count = axes ? axes->size() : rank;
  if (pads.size() != 2 * count) refuse();
  Padding padding{ScratchVector<std::int64_t>(rank, 0), ScratchVector<std::int64_t>(rank, 0)};
  if (axes) normalized_axes(*axes, static_cast<std::int64_t>(rank));  // refuses one named twice
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t named = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
    const auto axis = static_cast<std::size_t>(normalized_axis(named, static_cast<std::int64_t>(rank)));
    padding.begin[axis] = pads[i];
    padding.end[axis] = pads[i + count];
  }
  return padding;
}

Tensor pad(const Tensor& input, const Padding& padding, Mode mode, const Tensor& value) {
  return mode == Mode::constant ? pad_constant(input, padding, value) : pad_from_input(input, padding, mode);
}

RunFunction prepare_pad(PrepareContext& node) {
  const Mode mode = mode_attribute(node);
  return [mode](RunContext& run) {
    const Tensor& data = run.tensor(0);
    const ScratchVector<std::int64_t> pads = integer_list(run.tensor(1));
    Tensor value = Tensor::zeros(data.dtype(), Shape{});
    if (const Tensor* given = run.optional_tensor(2)) {
      if (given->size() != 1 || given->rank() > 1) refuse();
      value = given->reshaped(Shape{});
    }
    ScratchVector<std::int64_t> list;
    std::optional<std::span<const std::int64_t>> axes;
    const Tensor* named = run.optional_tensor(3);
    if (named) axes = list = integer_list(*named);
    run.set_output(0, pad(data, padding_of(pads, axes, data.rank()), mode, value));
  };
}

RunFunction prepare_attribute(PrepareContext& node) {
  const Mode mode = mode_attribute(node);
  const auto pads = node.ints_attribute(node.since_version() == 1 ? "paddings" : "pads");
  const float value = node.float_attribute("value", 0.0f);
  return [=](RunContext& run) {
    const Tensor& data = run.tensor(0);
    const Tensor fill =
        dispatch(Floats{}, data.dtype(), [&]<typename T>() { return Tensor::scalar(static_cast<T>(value)); });
    run.set_output(0, pad(data, padding_of(pads, std::nullopt, data.rank()), mode, fill));
  };
}

}  // namespace

std::vector<OpRow> op_rows_pad() {
  return {{"", "Pad", {1, 2}, prepare_attribute}, {"", "Pad", {11, 13, 18, 19, 21, 23, 24, 25}, prepare_pad}};
}

}  // namespace grurun::engine
