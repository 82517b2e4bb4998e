#include "engine/ops/nn/integer_planes.h"

#include <algorithm>
#include <span>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/vec/vec_transpose.h"
#include "engine/ops/nn/convolution_parts.h"
#include "engine/ops/nn/integer_bytes.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/memory/memory.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t term = kernels::plane_term;

// The places of one axis, padding included, by what is left of their number after division by the stride, so
// that what a tap reads for one output after the other lies side by side.
class Residues {
 public:
  Residues(const WindowAxis& axis, std::int64_t size) : axis_(axis), size_(size) {
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const std::int64_t residue = k * axis.dilation % axis.stride;
      if (std::ranges::find(used_, residue) == used_.end()) used_.push_back(residue);
    }
  }

  std::int64_t size() const { return size_; }  // places of each residue
  // Of those that some tap reads.
  std::int64_t count() const { return static_cast<std::int64_t>(used_.size()); }

  // Of what tap k reads for the first output: the number of the residue, and the place within it.
  std::int64_t index_of_tap(std::int64_t k) const {
    return std::ranges::find(used_, k * axis_.dilation % axis_.stride) - used_.begin();
  }
  std::int64_t place_of_tap(std::int64_t k) const { return k * axis_.dilation / axis_.stride; }

  // The places [begin, end) of residue number `index` that lie inside the input, and where in it the first
  // does.
  struct Inside {
    std::int64_t begin, end, first;
  };
  Inside inside(std::int64_t index) const {
    const std::int64_t s = axis_.stride, shift = axis_.pad_begin - used_[static_cast<std::size_t>(index)];
    const std::int64_t begin = shift <= 0 ? 0 : std::min(ceil_div(shift, s), size_);
    const std::int64_t end = std::clamp<std::int64_t>(ceil_div(axis_.input + shift, s), begin, size_);
    return {begin, end, begin * s - shift};
  }

 private:
  const WindowAxis& axis_;
  std::int64_t size_;
  ScratchVector<std::int64_t> used_;
};

// One image and group of X: [terms of channels, residues down, residues right, rows, columns, term].
class PlaneImage {
 public:
  PlaneImage(const WindowAxis& down, const WindowAxis& right, std::int64_t channels, std::uint8_t zero,
             std::uint8_t flip)
      : down_axis_(down),
        right_axis_(right),
        down_(down, ceil_div(down.reach(), down.stride)),
        right_(right, columns_of(right)),
        channels_(channels),
        terms_(ceil_div(channels, term)),
        plane_(checked_mul(checked_mul(down_.size(), right_.size()), down_.count() * right_.count()) * term),
        flip_(flip),
        // Behind the last row lies what pads its end, and what a block that is not full reads.
        bytes_(checked_mul(plane_, terms_) + (right.reach() + kernels::plane_block) * term),
        block_(static_cast<std::size_t>(bytes_)) {
    std::fill_n(data(), bytes_, zero);  // the padding stays
    for (std::int64_t c = 0; c < terms_; ++c) {
      for (std::int64_t i = 0; i < down.kernel; ++i) {
        for (std::int64_t j = 0; j < right.kernel; ++j) {
          offsets_.push_back(c * plane_ + offset(down_.index_of_tap(i), right_.index_of_tap(j),
                                                 down_.place_of_tap(i), right_.place_of_tap(j)));
        }
      }
    }
  }

  // x [channels, down.input, right.input].
  void load(const std::uint8_t* x) {
    const std::int64_t input = down_axis_.input * right_axis_.input;
    kernels::parallel_for(terms_, (1 << 15) / (plane_ + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      ScratchVector<std::uint8_t> spare(
          static_cast<std::size_t>(right_axis_.stride == 1 ? 0 : term * right_.size()));
      for (std::int64_t c = begin; c < end; ++c) {
        const std::uint8_t* from[term];
        // Where channels are missing, filters are 0, and any will do.
        for (std::int64_t j = 0; j < term; ++j) from[j] = x + std::min(c * term + j, channels_ - 1) * input;
        load_term(from, data() + c * plane_, spare.data());
      }
    });
  }

  const std::uint8_t* first_place() const { return static_cast<const std::uint8_t*>(block_.data()); }
  // Of the terms of a place, in bytes.
  std::span<const std::int64_t> offsets() const { return offsets_; }
  // Places from one row of sums to the next.
  std::int64_t columns() const { return right_.size(); }

 private:
  std::uint8_t* data() { return static_cast<std::uint8_t*>(block_.data()); }

  // Of a residue. Without strides what pads a row behind its end pads the next one before its beginning, too.
  static std::int64_t columns_of(const WindowAxis& right) {
    const std::int64_t reach = right.reach();
    if (right.stride > 1) return ceil_div(reach, right.stride);
    const std::int64_t padding = std::max(right.pad_begin, reach - right.pad_begin - right.input);
    return std::min(reach, std::max(right.output, right.input + padding));
  }

  std::int64_t offset(std::int64_t down_index, std::int64_t right_index, std::int64_t row,
                      std::int64_t column) const {
    const std::int64_t residue = down_index * right_.count() + right_index;
    return ((residue * down_.size() + row) * right_.size() + column) * term;
  }

  void load_term(const std::uint8_t* const (&from)[term], std::uint8_t* to, std::uint8_t* spare) const {
    const std::int64_t width = right_axis_.input, step = down_axis_.stride * width;
    for (std::int64_t y = 0; y < down_.count(); ++y) {
      const Residues::Inside rows = down_.inside(y);
      for (std::int64_t x = 0; x < right_.count(); ++x) {
        const Residues::Inside columns = right_.inside(x);
        const std::int64_t count = columns.end - columns.begin, first = rows.first * width + columns.first;
        std::uint8_t* const place = to + offset(y, x, rows.begin, columns.begin);
        if (step == width && count == width && count == right_.size()) {
          // Rows without padding lie one behind the other here and there.
          interleave(from, first, (rows.end - rows.begin) * width, place, spare);
          continue;
        }
        for (std::int64_t row = 0; row < rows.end - rows.begin; ++row)
          interleave(from, first + row * step, count, place + row * right_.size() * term, spare);
      }
    }
  }

  // n numbers of each of four channels, from number `first` on.
  void interleave(const std::uint8_t* const (&from)[term], std::int64_t first, std::int64_t n,
                  std::uint8_t* to, std::uint8_t* spare) const {
    const std::int64_t stride = right_axis_.stride;
    const std::uint8_t* parts[term];
    for (std::int64_t j = 0; j < term; ++j) {
      const std::uint8_t* const row = from[j] + first;
      parts[j] = row;
      if (stride == 1) continue;
      std::uint8_t* const part = spare + j * n;
      parts[j] = part;
      if (stride == 2) {
        kernels::vec_every_second(row, n, part);
      } else {
        for (std::int64_t i = 0; i < n; ++i) part[i] = row[i * stride];
      }
    }
    kernels::interleave_bytes(parts, n, flip_, to);
  }

  const WindowAxis &down_axis_, &right_axis_;
  const Residues down_, right_;
  const std::int64_t channels_, terms_;
  const std::int64_t plane_;  // bytes of a term of channels
  const std::uint8_t flip_;
  const std::int64_t bytes_;  // of all
  memory::Block block_;
  ScratchVector<std::int64_t> offsets_;
};

// Where places of a block that Y has lie in it, and in Y.
struct PlaceRun {
  std::int64_t in_block, in_y, count;
};

ScratchVector<PlaceRun> runs_of(std::int64_t first, std::int64_t n, std::int64_t columns,
                                std::int64_t width) {
  if (columns == width) return {{0, first, n}};
  ScratchVector<PlaceRun> runs;
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t row = (first + i) / columns, column = (first + i) % columns;
    if (column < width) runs.push_back({i, row * width + column, std::min(width - column, n - i)});
    i += columns - column;
  }
  return runs;
}

// Rows of a block to the planes of Y, `places` long each.
template <typename T>
void place_rows(const T* block, std::int64_t rows, std::span<const PlaceRun> runs, T* y,
                std::int64_t places) {
  for (std::int64_t m = 0; m < rows; ++m, block += kernels::plane_block, y += places) {
    for (const PlaceRun& run : runs) {
      if constexpr (sizeof(T) == 1) copy_run(block + run.in_block, run.count, y + run.in_y);
      if constexpr (sizeof(T) != 1) std::copy_n(block + run.in_block, run.count, y + run.in_y);
    }
  }
}

// Products of some filters and a block of places.
struct Part {
  kernels::PlaneProduct product;
  std::int64_t filter;  // the first of all
  std::int64_t n;       // places
  std::span<const PlaceRun> runs;
  std::int64_t plane;  // of Y, of the first filter
};

// A thread's memory for the rows of a part.
struct PartMemory {
  static constexpr std::int64_t filters = 8 * kernels::PlaneFilters::block;
  PartMemory() : sums(filters * kernels::plane_block), bytes(sums.size()), unsure(filters) {}
  ScratchVector<std::int32_t> sums;
  ScratchVector<std::uint8_t> bytes;
  ScratchVector<std::int32_t> unsure;
};

// finish(part, memory): for all parts, in any order.
template <typename Finish>
void each_part(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
               const ScratchVector<kernels::PlaneFilters>& filters, const std::int32_t* bias,
               const Finish& finish) {
  const WindowAxis down = shape.down(), &right = shape.axes.back();
  const std::int64_t channels = shape.channels / shape.group, count = shape.filters / shape.group;
  const std::int64_t chunks = ceil_div(count, PartMemory::filters);
  dispatch(ByteTypes{}, x.dtype(), [&]<typename Byte>() {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(x.data<Byte>());
    const std::uint8_t zero = zero_of_x<Byte>(zero_point);
    PlaneImage image(down, right, channels, zero, flip_of_x<Byte>);
    // Row behind row, with sums between them that nobody asked for.
    const std::int64_t places = (down.output - 1) * image.columns() + right.output;
    const std::int64_t blocks = ceil_div(places, kernels::plane_block);
    for (std::int64_t i = 0; i < shape.batch * shape.group; ++i) {
      const std::int64_t g = i % shape.group;
      const kernels::PlaneFilters& of_group = filters[static_cast<std::size_t>(g)];
      ScratchVector<std::int32_t> starts(static_cast<std::size_t>(count));
      for (std::int64_t m = 0; m < count; ++m) {
        starts[static_cast<std::size_t>(m)] = wrapping_sub(
            bias != nullptr ? bias[g * count + m] : 0, wrapping_mul(of_group.sums()[m], std::int32_t{zero}));
      }
      image.load(bytes + i * channels * shape.input_size());
      const std::int64_t work =
          kernels::plane_block * std::min(count, PartMemory::filters) * of_group.terms();
      kernels::parallel_for(blocks * chunks, (std::int64_t{1} << 16) / (work + 1) + 1,
                            [&](std::int64_t begin, std::int64_t end) {
                              PartMemory memory;
                              for (std::int64_t k = begin; k < end; ++k) {
                                const std::int64_t place = k / chunks * kernels::plane_block;
                                const std::int64_t first = k % chunks * PartMemory::filters;
                                const std::int64_t n = std::min(kernels::plane_block, places - place);
                                const auto runs = runs_of(place, n, image.columns(), right.output);
                                finish(Part{.product = {.filters = of_group,
                                                        .first = first,
                                                        .end = std::min(first + PartMemory::filters, count),
                                                        .starts = starts.data(),
                                                        .x = image.first_place() + place * term,
                                                        .offsets = image.offsets()},
                                            .filter = g * count,
                                            .n = n,
                                            .runs = runs,
                                            .plane = i * count + first},
                                       memory);
                              }
                            });
    }
  });
}

}  // namespace

ScratchVector<kernels::PlaneFilters> plane_filters(const Tensor& w, const Tensor* zero_point,
                                                   std::int64_t group) {
  ScratchVector<kernels::PlaneFilters> out;
  if (!kernels::multiplies_bytes() || w.rank() < 3 || w.rank() > 4 || w.size() == 0 || group < 1 ||
      w.dim(0) % group != 0 || w.dim(0) / group < fewest_filters || !is_centred(w, zero_point))
    return out;
  const std::int64_t filters = w.dim(0) / group, channels = w.dim(1), taps = w.shape().count(2, w.rank());
  dispatch(ByteTypes{}, w.dtype(), [&]<typename Byte>() {
    for (std::int64_t g = 0; g < group; ++g) {
      const Byte* const from = w.data<Byte>() + g * filters * channels * taps;
      out.emplace_back(filters, ceil_div(channels, term) * taps,
                       [=](std::int64_t m, std::int64_t t, std::int64_t i) {
                         const std::int64_t channel = t / taps * term + i;
                         return channel < channels ? as_int8(from[(m * channels + channel) * taps + t % taps])
                                                   : std::int8_t{0};
                       });
    }
  });
  return out;
}

void convolve_planes(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                     const ScratchVector<kernels::PlaneFilters>& filters, const std::int32_t* bias,
                     std::int32_t* y) {
  const std::int64_t places = shape.output_size();
  each_part(shape, x, zero_point, filters, bias, [=](const Part& part, PartMemory& memory) {
    kernels::multiply_planes(part.product, part.n, memory.sums.data());
    place_rows(memory.sums.data(), part.product.end - part.product.first, part.runs, y + part.plane * places,
               places);
  });
}

void convolve_planes(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                     const ScratchVector<kernels::PlaneFilters>& filters, const kernels::Requantization& by,
                     std::uint8_t* y) {
  const std::int64_t places = shape.output_size();
  ScratchVector<double> factors(static_cast<std::size_t>(shape.filters));
  for (std::size_t m = 0; m < factors.size(); ++m)
    factors[m] = by.factors[static_cast<std::int64_t>(m) * by.step];
  const ScratchVector<float> nearest = kernels::nearest_factors(factors, by.scale);
  each_part(shape, x, zero_point, filters, by.addends, [&](const Part& part, PartMemory& memory) {
    const std::int64_t rows = part.product.end - part.product.first,
                       filter = part.filter + part.product.first;
    kernels::Requantization of_row = by;
    of_row.step = 0;
    of_row.addends = nullptr;  // the sums have them
    const auto requantize = [&](std::int64_t row) {
      of_row.factors = factors.data() + filter + row;
      const std::int64_t at = row * kernels::plane_block;
      kernels::vec_requantize(memory.sums.data() + at, of_row, memory.bytes.data() + at, part.n);
    };
    if (nearest.empty()) {
      kernels::multiply_planes(part.product, part.n, memory.sums.data());
      for (std::int64_t row = 0; row < rows; ++row) requantize(row);
    } else {
      kernels::Requantization in_float = by;
      in_float.nearest = nearest.data() + part.filter;
      const std::int64_t unsure = kernels::multiply_planes(
          part.product, part.n, in_float, memory.bytes.data(), memory.sums.data(), memory.unsure.data());
      for (std::int64_t i = 0; i < unsure; ++i) requantize(memory.unsure[static_cast<std::size_t>(i)]);
    }
    place_rows(memory.bytes.data(), rows, part.runs, y + part.plane * places, places);
  });
}

}  // namespace grurun::engine
