#include "engine/ops/nn/integer_taps.h"

#include <algorithm>

#include "engine/kernels/integer/byte_taps.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/nn/convolution_parts.h"
#include "engine/ops/nn/integer_bytes.h"
#include "engine/ops/nn/integer_windows.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/memory/memory.h"

namespace grurun::engine {

namespace {

struct Plane {
  explicit Plane(const ConvShape& shape)
      : down(shape.down()), right(shape.axes.back()), rows(down.reach()), columns(right.reach()) {}
  std::int64_t bytes() const { return rows * columns + kernels::byte_taps_read_beyond; }

  const WindowAxis down, right;
  const std::int64_t rows, columns;  // with the padding that windows reach
};

// The places of a padded plane that x [down.input, right.input] takes: `rows` rows from `first_row` on.
struct Inside {
  explicit Inside(const Plane& plane)
      : first_row(std::min(plane.down.pad_begin, plane.rows)),
        rows(std::clamp<std::int64_t>(plane.down.input, 0, plane.rows - first_row)),
        first_column(std::min(plane.right.pad_begin, plane.columns)),
        columns(std::clamp<std::int64_t>(plane.right.input, 0, plane.columns - first_column)) {}

  void load(const Plane& plane, const std::uint8_t* x, std::uint8_t flip, std::uint8_t* padded) const {
    std::uint8_t* to = padded + first_row * plane.columns + first_column;
    for (std::int64_t row = 0; row < rows; ++row, x += plane.right.input, to += plane.columns) {
      if (flip == 0) {
        copy_run(x, columns, to);
      } else {
        for (std::int64_t i = 0; i < columns; ++i) to[i] = x[i] ^ flip;
      }
    }
  }

  std::int64_t first_row, rows, first_column, columns;
};

// Some rows of sums of one filter of one image.
struct Piece {
  std::int64_t plane;        // of all in Y
  std::int64_t first, rows;  // of these
  const std::int32_t* sums;  // rows `step` apart
  std::int64_t step;
  std::uint8_t* spare;  // for as many bytes as sums
};

// How planes are computed: some rows at a time, and a lot of small planes step by step, so that what a step
// writes has reached the cache when the next one reads it.
struct Order {
  explicit Order(const Plane& plane)
      : together(plane.right.stride == 1 && plane.down.stride == 1),
        step(together ? plane.columns : plane.right.output),
        rows(std::clamp<std::int64_t>(cached_sums / step, 1, plane.down.output)),
        lot(rows == plane.down.output ? std::max<std::int64_t>(cached_sums / (rows * step), 1) : 1) {}

  static constexpr std::int64_t cached_sums = 1 << 12;
  bool together;      // row behind row, with sums between them that nobody asked for
  std::int64_t step;  // from a row of sums to the next
  std::int64_t rows, lot;
};

// finish.make(piece), and after that of some others finish.place(piece): for all pieces, in any order.
template <typename Finish>
void each_piece(const ConvShape& shape, const Tensor& x, const Tensor* zero_point, const TapFilters& filters,
                const std::int32_t* bias, const Finish& finish) {
  const Plane plane(shape);
  const Order order(plane);
  const Inside inside(plane);
  const kernels::ByteSteps steps(plane.right.stride, plane.right.dilation);
  const std::int64_t width = plane.right.output, height = plane.down.output;
  const std::int64_t times = shape.filters / shape.group, input = plane.down.input * plane.right.input;
  const std::int64_t planes = shape.batch * shape.channels, size = order.rows * order.step;
  dispatch(ByteTypes{}, x.dtype(), [&]<typename Byte>() {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(x.data<Byte>());
    const std::uint8_t zero = zero_of_x<Byte>(zero_point);

    // Rows from `row` on of the sums of filter m of plane i, whose padded bytes are given.
    const auto sum = [&](std::int64_t i, std::int64_t m, std::int64_t row, const std::uint8_t* padded,
                         std::int32_t* sums) {
      const std::int64_t filter = i % shape.channels * times + m, rows = std::min(order.rows, height - row);
      const std::int32_t of_zero =
          wrapping_mul(filters.sums[static_cast<std::size_t>(filter)], std::int32_t{zero});
      const kernels::ByteTaps taps{.x = padded + row * plane.down.stride * plane.columns,
                                   .x_step = plane.down.stride * plane.columns,
                                   .tap_step = plane.down.dilation * plane.columns,
                                   .tap_rows = filters.rows,
                                   .taps = filters.taps,
                                   .w = filters.w.data() + filter * filters.rows * filters.taps,
                                   .steps = steps,
                                   .start = wrapping_sub(bias != nullptr ? bias[filter] : 0, of_zero)};
      if (order.together) {
        kernels::sum_byte_taps(taps, 1, (rows - 1) * order.step + width, sums, 0);
      } else {
        kernels::sum_byte_taps(taps, rows, width, sums, order.step);
      }
    };

    const std::int64_t work = order.lot * height * order.step * times * filters.rows * filters.taps;
    kernels::parallel_for(
        ceil_div(planes, order.lot), (std::int64_t{1} << 18) / (work + 1) + 1,
        [&](std::int64_t begin, std::int64_t end) {
          const memory::Block block(static_cast<std::size_t>(order.lot * plane.bytes()));
          auto* const padded = static_cast<std::uint8_t*>(block.data());
          std::fill_n(padded, order.lot * plane.bytes(), zero);  // the padding stays, whatever the plane
          ScratchVector<std::int32_t> sums(static_cast<std::size_t>(size + kernels::byte_taps_at_once));
          ScratchVector<std::uint8_t> spare(static_cast<std::size_t>(order.lot * size));
          for (std::int64_t lot = begin; lot < end; ++lot) {
            const std::int64_t first = lot * order.lot, count = std::min(order.lot, planes - first);
            for (std::int64_t i = 0; i < count; ++i)
              inside.load(plane, bytes + (first + i) * input, flip_of_x<Byte>, padded + i * plane.bytes());
            for (std::int64_t m = 0; m < times; ++m) {
              for (std::int64_t row = 0; row < height; row += order.rows) {
                const auto piece = [&](std::int64_t i) {
                  return Piece{(first + i) * times + m,
                               row,
                               std::min(order.rows, height - row),
                               sums.data(),
                               order.step,
                               spare.data() + i * size};
                };
                for (std::int64_t i = 0; i < count; ++i) {
                  sum(first + i, m, row, padded + i * plane.bytes(), sums.data());
                  finish.make(piece(i));
                }
                for (std::int64_t i = 0; i < count; ++i) finish.place(piece(i));
              }
            }
          }
        });
  });
}

struct SumsToY {
  void make(const Piece& piece) const {
    std::int32_t* const to = y + piece.plane * places + piece.first * width;
    for (std::int64_t row = 0; row < piece.rows; ++row)
      std::copy_n(piece.sums + row * piece.step, width, to + row * width);
  }
  void place(const Piece&) const {}

  std::int64_t places, width;
  std::int32_t* y;
};

struct BytesToY {
  void make(const Piece& piece) const {
    kernels::Requantization here = by;
    here.factors += piece.plane % filters * by.step;
    here.step = 0;
    here.addends = nullptr;  // the sums have them
    std::uint8_t* const to = piece.step == width ? first_of(piece) : piece.spare;
    kernels::vec_requantize(piece.sums, here, to, (piece.rows - 1) * piece.step + width);
  }
  void place(const Piece& piece) const {
    if (piece.step == width) return;
    std::uint8_t* const to = first_of(piece);
    for (std::int64_t row = 0; row < piece.rows; ++row)
      copy_run(piece.spare + row * piece.step, width, to + row * width);
  }
  std::uint8_t* first_of(const Piece& piece) const { return y + piece.plane * places + piece.first * width; }

  std::int64_t filters, places, width;
  const kernels::Requantization& by;
  std::uint8_t* y;
};

}  // namespace

std::optional<TapFilters> tap_filters(const Tensor& w, const Tensor* zero_point) {
  if (w.rank() < 3 || w.rank() > 4 || w.size() == 0 || w.dim(1) != 1 || !is_centred(w, zero_point))
    return std::nullopt;
  const std::int64_t kernel = w.dim(w.rank() - 1), padded = ceil_div(kernel, 4) * 4;
  TapFilters out{.rows = w.rank() == 4 ? w.dim(2) : 1, .taps = padded, .w = {}, .sums = {}};
  const std::int64_t rows = w.dim(0) * out.rows;
  out.w.assign(static_cast<std::size_t>(checked_mul(rows, padded)), 0);
  out.sums.assign(static_cast<std::size_t>(w.dim(0)), 0);
  dispatch(ByteTypes{}, w.dtype(), [&]<typename Byte>() {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < kernel; ++k) {
        const std::int8_t value = as_int8(w.data<Byte>()[row * kernel + k]);
        out.w[static_cast<std::size_t>(row * padded + k)] = value;
        out.sums[static_cast<std::size_t>(row / out.rows)] += value;
      }
    }
  });
  return out;
}

bool suits_taps(const ConvShape& shape) {
  const WindowAxis& right = shape.axes.back();
  return kernels::ByteSteps::knows(right.stride, right.dilation) && suits_windows(shape);
}

void convolve_taps(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                   const TapFilters& filters, const std::int32_t* bias, std::int32_t* y) {
  each_piece(shape, x, zero_point, filters, bias, SumsToY{shape.output_size(), shape.axes.back().output, y});
}

void convolve_taps(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                   const TapFilters& filters, const kernels::Requantization& by, std::uint8_t* y) {
  each_piece(shape, x, zero_point, filters, by.addends,
             BytesToY{shape.filters, shape.output_size(), shape.axes.back().output, by, y});
}

}  // namespace grurun::engine
