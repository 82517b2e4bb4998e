#include "engine/ops/nn/integer_windows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/vec/vec_transpose.h"
#include "engine/ops/nn/convolution_parts.h"
#include "engine/ops/nn/integer_bytes.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/dispatch.h"
#include "tensor/memory/memory.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t long_row = 128;  // places, enough for whole vectors of transposition

// Channels of a tap, rounded up to whole groups of numbers.
std::int64_t padded_channels(std::int64_t channels, std::int64_t group) {
  return ceil_div(channels, group) * group;
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
        rows_(down.reach()),
        columns_(right.reach()),
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

  // The windows of output row `row` from place `column` on.
  kernels::IntegerWindows windows(std::int64_t row, std::int64_t column,
                                  std::span<const std::int64_t> offsets) {
    const std::int32_t zero =
        bytes_ == 1 ? arranged_zero_[0] : *reinterpret_cast<std::int16_t*>(arranged_zero_);
    const std::int64_t place = row * down_.stride * columns_ + column * right_.stride;
    return {.data = data() + place * padded_ * bytes_,
            .row_bytes = right_.stride * padded_ * bytes_,
            .offsets = offsets,
            .zero_point = zero,
            .sums = sums_.empty() ? nullptr : sums_.data() + row * right_.output + column};
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

// Filters that are multiplied together: [begin, end) of panels.N().
struct Strip {
  std::int64_t begin, end;
  std::int64_t count() const { return end - begin; }
};

// Of as many panels as stay in the first level of cache.
ScratchVector<Strip> strips_of(const kernels::IntegerPanels& panels) {
  constexpr std::int64_t most = 3, width = kernels::IntegerPanels::column_count;
  const std::int64_t count = ceil_div(panels.panels(), most);
  ScratchVector<Strip> strips;
  for (std::int64_t s = 0; s < count; ++s) {
    strips.push_back({s * panels.panels() / count * width,
                      std::min((s + 1) * panels.panels() / count * width, panels.N())});
  }
  return strips;
}

// finish(sums, strip, first, count): for all strips and places, some at a time, sums [count, strip.count()]
// of the products of windows `first` ... first + count - 1.
template <typename Byte, typename Finish>
void multiply_windows(PaddedImage<Byte>& image, const WindowAxis& down, const WindowAxis& right,
                      const kernels::IntegerPanels& panels, const Finish& finish) {
  constexpr std::int64_t panel_width = kernels::IntegerPanels::column_count;
  constexpr std::int64_t block_places = 80;  // whose sums are finished while they are in the first level
  const ScratchVector<std::int64_t> offsets = image.offsets();
  const ScratchVector<Strip> strips = strips_of(panels);
  // Some rows, or a part of one.
  const std::int64_t rows_at_once = std::clamp<std::int64_t>(block_places / right.output, 1, down.output);
  const std::int64_t width = std::min(right.output, block_places);
  const std::int64_t across = ceil_div(right.output, width);
  const std::int64_t work = rows_at_once * width * panels.N() * panels.K();
  kernels::parallel_for(ceil_div(down.output, rows_at_once) * across,
                        (std::int64_t{1} << 18) / (work + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
                          const memory::Block block(static_cast<std::size_t>(rows_at_once * width) * 3 *
                                                    panel_width * sizeof(std::int32_t));
                          auto* const sums = static_cast<std::int32_t*>(block.data());
                          for (std::int64_t i = begin; i < end; ++i) {
                            const std::int64_t first = i / across * rows_at_once, column = i % across * width;
                            const std::int64_t rows = std::min(rows_at_once, down.output - first);
                            const std::int64_t places = std::min(width, right.output - column);
                            for (std::size_t s = 0; s < strips.size(); ++s) {
                              const Strip& strip = strips[s];
                              for (std::int64_t row = 0; row < rows; ++row) {
                                kernels::multiply_integers(
                                    image.windows(first + row, column, offsets), places, panels,
                                    strip.begin / panel_width, ceil_div(strip.end, panel_width),
                                    sums + row * places * strip.count(), strip.count());
                              }
                              finish(sums, s, strip, first * right.output + column, rows * places);
                            }
                          }
                        });
}

// finish_of(plane, filter): what multiply_windows() calls for the plane-th group of all images, whose filters
// begin with this one.
template <typename FinishOf>
void each_group(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                const ScratchVector<kernels::IntegerPanels>& panels, const FinishOf& finish_of) {
  const WindowAxis down = shape.down(), &right = shape.axes.back();
  const std::int64_t channels = shape.channels / shape.group, filters = shape.filters / shape.group;
  dispatch(ByteTypes{}, x.dtype(), [&]<typename Byte>() {
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

// What sums [places, count] of filters from `first` on are requantized by: factors and addends of several
// places, so that few of the numbers that are requantized at a time are at an end.
class RepeatedFactors {
 public:
  RepeatedFactors(const kernels::Requantization& by, std::int64_t first, std::int64_t count,
                  std::int64_t places)
      : by_(by), length_(count * std::clamp<std::int64_t>(run / count, 1, places)) {
    if (by.step != 0) factors_ = repeated(by.factors + first, count);
    nearest_ = kernels::nearest_factors(factors_, by.scale);
    if (by.addends != nullptr) addends_ = repeated(by.addends + first, count);
  }

  void requantize(const std::int32_t* sums, std::uint8_t* to, std::int64_t n) const {
    kernels::Requantization by = by_;
    if (!factors_.empty()) by.factors = factors_.data();
    if (!nearest_.empty()) by.nearest = nearest_.data();
    if (!addends_.empty()) by.addends = addends_.data();
    const std::int64_t length = factors_.empty() && addends_.empty() ? n : length_;
    for (std::int64_t i = 0; i < n; i += length)
      kernels::vec_requantize(sums + i, by, to + i, std::min(length, n - i));
  }

 private:
  static constexpr std::int64_t run = 192;

  template <typename T>
  ScratchVector<T> repeated(const T* from, std::int64_t count) const {
    ScratchVector<T> list(static_cast<std::size_t>(length_));
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = from[static_cast<std::int64_t>(i) % count];
    return list;
  }

  kernels::Requantization by_;
  std::int64_t length_;
  ScratchVector<double> factors_;
  ScratchVector<float> nearest_;
  ScratchVector<std::int32_t> addends_;
};

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
  dispatch(ByteTypes{}, w.dtype(), [&]<typename Byte>() {
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
  for (const WindowAxis& axis : shape.axes) padded = checked_mul(padded, axis.reach());
  return padded / 4 <= shape.input_size() + shape.output_size();
}

void convolve_windows(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                      const ScratchVector<kernels::IntegerPanels>& panels, const std::int32_t* bias,
                      std::int32_t* y) {
  const std::int64_t filters = shape.filters / shape.group, places = shape.output_size();
  each_group(shape, x, zero_point, panels, [&](std::int64_t plane, std::int64_t filter) {
    return [=, to = y + plane * filters * places](const std::int32_t* sums, std::size_t, const Strip& strip,
                                                  std::int64_t first, std::int64_t count) {
      kernels::vec_transpose(reinterpret_cast<const std::uint32_t*>(sums), strip.count(), count,
                             strip.count(),
                             reinterpret_cast<std::uint32_t*>(to + strip.begin * places + first), places);
      if (bias == nullptr) return;
      for (std::int64_t m = strip.begin; m < strip.end; ++m) {
        std::int32_t* const row = to + m * places + first;
        for (std::int64_t o = 0; o < count; ++o) row[o] = wrapping_add(row[o], bias[filter + m]);
      }
    };
  });
}

void convolve_windows(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                      const ScratchVector<kernels::IntegerPanels>& panels, const kernels::Requantization& by,
                      std::uint8_t* y) {
  const std::int64_t filters = shape.filters / shape.group, places = shape.output_size();
  each_group(shape, x, zero_point, panels, [&](std::int64_t plane, std::int64_t filter) {
    ScratchVector<RepeatedFactors> factors;
    for (const Strip& strip : strips_of(panels[static_cast<std::size_t>(filter / filters)]))
      factors.emplace_back(by, filter + strip.begin, strip.count(), places);
    return [to = y + plane * filters * places, factors = std::move(factors), places](
               const std::int32_t* sums, std::size_t s, const Strip& strip, std::int64_t first,
               std::int64_t count) {
      ScratchVector<std::uint8_t> bytes(static_cast<std::size_t>(count * strip.count()));
      factors[s].requantize(sums, bytes.data(), count * strip.count());
      kernels::vec_transpose(bytes.data(), strip.count(), count, strip.count(),
                             to + strip.begin * places + first, places);
    };
  });
}

}  // namespace grurun::engine
