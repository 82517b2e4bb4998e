#include "engine/ops/nn/integer_windows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/vec/vec_transpose.h"
#include "engine/ops/nn/convolution_parts.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/dispatch.h"
#include "tensor/memory/memory.h"

namespace grurun::engine {

namespace {

using Bytes = TypeList<std::int8_t, std::uint8_t>;

constexpr std::int64_t fewest_filters = 8;  // of a group
constexpr std::int64_t long_row = 128;      // places, enough for whole vectors of transposition

// Channels of a tap, rounded up to whole groups of numbers.
std::int64_t padded_channels(std::int64_t channels, std::int64_t group) {
  return ceil_div(channels, group) * group;
}

// Places that the windows reach over, padding and gaps included.
std::int64_t reach(const WindowAxis& axis) {
  return (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

// One image and group of X, as products with `panels` take it: [rows, columns, channels] with the padding,
// which holds the zero point.
template <typename Byte>
class PaddedImage {
 public:
  PaddedImage(const WindowAxis& down, const WindowAxis& right, std::int64_t channels, Byte zero,
              const kernels::IntegerPanels& panels)
      : down_(down),
        right_(right),
        channels_(channels),
        padded_(padded_channels(channels, panels.group())),
        rows_(reach(down)),
        columns_(reach(right)),
        bytes_(panels.holds_bytes() ? 1 : 2),
        zero_(zero),
        panels_(panels),
        raw_(static_cast<std::size_t>(checked_mul(checked_mul(rows_, columns_), padded_))),
        arranged_(bytes_ == 1 ? 0 : raw_.size() * 2),
        sums_(panels.has_zero_points() ? static_cast<std::size_t>(down.output * right.output) : 0) {
    kernels::arrange_integers(&zero_, 1, panels_, arranged_zero_);
  }

  // x [channels, down.input, right.input], `plane` elements a channel.
  void load(const Byte* x) {
    const std::int64_t plane = down_.input * right_.input, row_numbers = columns_ * padded_;
    const std::int64_t first = std::min(right_.pad_begin, columns_);
    const std::int64_t width = std::clamp<std::int64_t>(right_.input, 0, columns_ - first);
    // Rows without padding lie one behind the other here and there: some are one long row.
    const bool full = padded_ == channels_ && width == columns_ && width == right_.input &&
                      down_.pad_begin == 0 && rows_ <= down_.input;
    const std::int64_t together = full ? ceil_div(long_row, width) : 1;
    kernels::parallel_for(
        ceil_div(rows_, together), (1 << 15) / (together * row_numbers + 1) + 1,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin * together; row < std::min(end * together, rows_); row += together) {
            const std::int64_t count = std::min(together, rows_ - row), at = row - down_.pad_begin;
            std::uint8_t* to = static_cast<std::uint8_t*>(raw_.data()) + row * row_numbers;
            if (!full)
              std::memset(to, static_cast<std::uint8_t>(zero_), static_cast<std::size_t>(row_numbers));
            if (at >= 0 && at < down_.input) {
              kernels::vec_transpose(reinterpret_cast<const std::uint8_t*>(x) + at * right_.input, plane,
                                     channels_, count * width, to + first * padded_, padded_);
            }
            kernels::arrange_integers(reinterpret_cast<const Byte*>(to), count * row_numbers, panels_,
                                      data() + row * row_numbers * bytes_);
          }
        });
    if (panels_.has_zero_points()) add_up();
  }

  // The windows of output row `row`.
  kernels::IntegerWindows windows(std::int64_t row, std::span<const std::int64_t> offsets) {
    const std::int32_t zero =
        bytes_ == 1 ? arranged_zero_[0] : *reinterpret_cast<std::int16_t*>(arranged_zero_);
    return {.data = data() + row * down_.stride * columns_ * padded_ * bytes_,
            .row_bytes = right_.stride * padded_ * bytes_,
            .offsets = offsets,
            .zero_point = zero,
            .sums = sums_.empty() ? nullptr : sums_.data() + row * right_.output};
  }

  // Of the taps of a window, in bytes.
  ScratchVector<std::int64_t> offsets() const {
    ScratchVector<std::int64_t> out;
    for (std::int64_t i = 0; i < down_.kernel; ++i) {
      for (std::int64_t j = 0; j < right_.kernel; ++j)
        out.push_back((i * down_.dilation * columns_ + j * right_.dilation) * padded_ * bytes_);
    }
    return out;
  }

 private:
  std::uint8_t* data() { return static_cast<std::uint8_t*>(bytes_ == 1 ? raw_.data() : arranged_.data()); }

  template <typename Number>
  std::int32_t sum_of(std::int64_t place) {
    const Number* from = reinterpret_cast<const Number*>(data()) + place * padded_;
    return std::accumulate(from, from + padded_, std::int32_t{0});
  }

  // The sums of windows: first of places, then of taps.
  void add_up() {
    ScratchVector<std::int32_t> of_places(static_cast<std::size_t>(rows_ * columns_));
    for (std::int64_t i = 0; i < rows_ * columns_; ++i) {
      of_places[static_cast<std::size_t>(i)] =
          bytes_ == 1 ? sum_of<std::uint8_t>(i) : sum_of<std::int16_t>(i);
    }
    for (std::int64_t o = 0; o < down_.output * right_.output; ++o) {
      const std::int64_t first =
          o / right_.output * down_.stride * columns_ + o % right_.output * right_.stride;
      std::int32_t sum = 0;
      for (std::int64_t i = 0; i < down_.kernel; ++i) {
        for (std::int64_t j = 0; j < right_.kernel; ++j) {
          const std::int64_t place = first + i * down_.dilation * columns_ + j * right_.dilation;
          sum = wrapping_add(sum, of_places[static_cast<std::size_t>(place)]);
        }
      }
      sums_[static_cast<std::size_t>(o)] = sum;
    }
  }

  const WindowAxis &down_, &right_;
  const std::int64_t channels_, padded_, rows_, columns_, bytes_;
  const Byte zero_;
  const kernels::IntegerPanels& panels_;
  alignas(2) std::uint8_t arranged_zero_[2];
  memory::Block raw_, arranged_;  // the same; bytes, and what is not bytes
  ScratchVector<std::int32_t> sums_;
};

// finish(sums, first, count): for all places, some of them at a time, sums [count, filters] of the products
// of windows `first` ... first + count - 1.
template <typename Byte, typename Finish>
void multiply_windows(PaddedImage<Byte>& image, const WindowAxis& down, const WindowAxis& right,
                      const kernels::IntegerPanels& panels, const Finish& finish) {
  constexpr std::int64_t strip = 3;             // panels that stay in the first level of cache, at most
  constexpr std::int64_t block_sums = 1 << 14;  // that are finished while they are in the second
  const std::int64_t filters = panels.N(), width = right.output;
  const ScratchVector<std::int64_t> offsets = image.offsets();
  const std::int64_t strips = ceil_div(panels.panels(), strip);
  const std::int64_t at_once = std::clamp<std::int64_t>(block_sums / (filters * width), 1, down.output);
  const std::int64_t work = at_once * width * filters * panels.K();
  kernels::parallel_for(
      ceil_div(down.output, at_once), (std::int64_t{1} << 18) / (work + 1) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        const memory::Block block(static_cast<std::size_t>(at_once * width * filters) * sizeof(std::int32_t));
        auto* const sums = static_cast<std::int32_t*>(block.data());
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t first = i * at_once, rows = std::min(at_once, down.output - first);
          for (std::int64_t s = 0; s < strips; ++s) {
            const std::int64_t panel = s * panels.panels() / strips,
                               last = (s + 1) * panels.panels() / strips;
            for (std::int64_t row = 0; row < rows; ++row) {
              kernels::multiply_integers(
                  image.windows(first + row, offsets), width, panels, panel, last,
                  sums + row * width * filters + panel * kernels::IntegerPanels::column_count, filters);
            }
          }
          finish(sums, first * width, rows * width);
        }
      });
}

// finish_of(plane, filter): what multiply_windows() calls for the plane-th group of all images, whose filters
// begin with this one.
template <typename FinishOf>
void each_group(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                const ScratchVector<kernels::IntegerPanels>& panels, const FinishOf& finish_of) {
  const WindowAxis one{.input = 1, .output = 1};
  const WindowAxis &down = shape.axes.size() > 1 ? shape.axes.front() : one, &right = shape.axes.back();
  const std::int64_t channels = shape.channels / shape.group, filters = shape.filters / shape.group;
  dispatch(Bytes{}, x.dtype(), [&]<typename Byte>() {
    const Byte zero = zero_point != nullptr ? *zero_point->data<Byte>() : Byte{0};
    for (std::int64_t g = 0; g < shape.group; ++g) {
      const kernels::IntegerPanels& of_group = panels[static_cast<std::size_t>(g)];
      PaddedImage<Byte> image(down, right, channels, zero, of_group);
      for (std::int64_t n = 0; n < shape.batch; ++n) {
        const std::int64_t plane = n * shape.group + g;
        image.load(x.data<Byte>() + plane * channels * shape.input_size());
        multiply_windows(image, down, right, of_group, finish_of(plane, g * filters));
      }
    }
  });
}

// [count * times]: from[0], from[1], ... and again after `count` of them.
template <typename T>
ScratchVector<T> repeated(const T* from, std::int64_t count, std::int64_t times) {
  ScratchVector<T> list(static_cast<std::size_t>(count * times));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = from[static_cast<std::int64_t>(i) % count];
  return list;
}

}  // namespace

ScratchVector<kernels::IntegerPanels> filter_panels(const Tensor& w, const Tensor* zero_point,
                                                    std::int64_t group) {
  ScratchVector<kernels::IntegerPanels> out;
  if (w.rank() < 3 || w.rank() > 4 || w.size() == 0 || group < 1 || w.dim(0) % group != 0) return out;
  const std::int64_t filters = w.dim(0) / group, channels = w.dim(1), taps = w.shape().count(2, w.rank());
  if (filters < fewest_filters) return out;
  const std::int64_t padded = padded_channels(channels, kernels::multiplies_bytes() ? 4 : 2);
  ScratchVector<std::int64_t> columns(static_cast<std::size_t>(filters));
  std::iota(columns.begin(), columns.end(), 0);
  dispatch(Bytes{}, w.dtype(), [&]<typename Byte>() {
    // Against the zero point of x, which stands for channels that are not there, any number adds nothing.
    ScratchVector<Byte> by_taps(static_cast<std::size_t>(checked_mul(taps * padded, filters)));
    const Byte none = 0;
    const Byte* zero = zero_point != nullptr ? zero_point->data<Byte>() : &none;
    const std::int64_t step = zero_point != nullptr && zero_point->size() > 1 ? 1 : 0;
    for (std::int64_t g = 0; g < group; ++g) {
      const Byte* from = w.data<Byte>() + g * filters * channels * taps;
      for (std::int64_t m = 0; m < filters; ++m) {
        for (std::int64_t c = 0; c < channels; ++c) {
          for (std::int64_t t = 0; t < taps; ++t)
            by_taps[static_cast<std::size_t>((t * padded + c) * filters + m)] = *from++;
        }
      }
      out.emplace_back(by_taps.data(), taps * padded, filters, columns, zero + g * filters * step, step);
    }
  });
  return out;
}

bool suits_windows(const ConvShape& shape) {
  std::int64_t padded = 1;
  for (const WindowAxis& axis : shape.axes) padded = checked_mul(padded, reach(axis));
  return padded / 4 <= shape.input_size() + shape.output_size();
}

void convolve_windows(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                      const ScratchVector<kernels::IntegerPanels>& panels, const std::int32_t* bias,
                      std::int32_t* y) {
  const std::int64_t filters = shape.filters / shape.group, places = shape.output_size();
  each_group(shape, x, zero_point, panels, [&](std::int64_t plane, std::int64_t filter) {
    std::int32_t* const to = y + plane * filters * places;
    return [=](const std::int32_t* sums, std::int64_t first, std::int64_t count) {
      kernels::vec_transpose(reinterpret_cast<const std::uint32_t*>(sums), filters, count, filters,
                             reinterpret_cast<std::uint32_t*>(to + first), places);
      if (bias == nullptr) return;
      for (std::int64_t m = 0; m < filters; ++m) {
        std::int32_t* const row = to + m * places + first;
        for (std::int64_t o = 0; o < count; ++o) row[o] = wrapping_add(row[o], bias[filter + m]);
      }
    };
  });
}

void convolve_windows(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                      const ScratchVector<kernels::IntegerPanels>& panels, const kernels::Requantization& by,
                      std::uint8_t* y) {
  constexpr std::int64_t run = 512;  // numbers that are requantized at a time, so that few are at an end
  const std::int64_t filters = shape.filters / shape.group, places = shape.output_size();
  const std::int64_t times = std::clamp<std::int64_t>(run / filters, 1, places), length = times * filters;
  each_group(shape, x, zero_point, panels, [&](std::int64_t plane, std::int64_t filter) {
    ScratchVector<double> factors;
    if (by.step != 0) factors = repeated(by.factors + filter, filters, times);
    return [=, &by, to = y + plane * filters * places, nearest = kernels::nearest_factors(factors, by.scale),
            addends = by.addends == nullptr ? ScratchVector<std::int32_t>{}
                                            : repeated(by.addends + filter, filters, times)](
               const std::int32_t* sums, std::int64_t first, std::int64_t count) {
      kernels::Requantization here = by;
      if (by.step != 0) here.factors = factors.data();
      if (!nearest.empty()) here.nearest = nearest.data();
      if (by.addends != nullptr) here.addends = addends.data();
      ScratchVector<std::uint8_t> bytes(static_cast<std::size_t>(count * filters));
      for (std::int64_t i = 0; i < count * filters; i += length)
        kernels::vec_requantize(sums + i, here, bytes.data() + i, std::min(length, count * filters - i));
      kernels::vec_transpose(bytes.data(), filters, count, filters, to + first, places);
    };
  });
}

}  // namespace grurun::engine
