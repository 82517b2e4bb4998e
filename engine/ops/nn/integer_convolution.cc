#include "engine/ops/nn/integer_convolution.h"

#include <algorithm>
#include <limits>

#include "engine/graph/refusal.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/nn/convolution_parts.h"
#include "engine/ops/nn/integer_bytes.h"
#include "engine/ops/nn/integer_windows.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t largest = 255;  // of an 8-bit number less its zero point

// A tensor [slices, channels, inner]; a zero point for each slice, or one for all.
struct Sliced {
  const Tensor& values;
  std::int64_t slices, channels, inner;
  const Tensor* zero_point;
};

// Channels [begin, end) of every slice, less the zero point.
template <typename T>
Tensor centred(const Sliced& from, std::int64_t begin, std::int64_t end) {
  const std::int64_t run = (end - begin) * from.inner;
  Tensor out(dtype_of<T>, Shape{from.slices * run});
  if (out.size() == 0) return out;
  T* const to = out.template mutable_data<T>();
  dispatch(ByteTypes{}, from.values.dtype(), [&]<typename Byte>() {
    const Byte* const bytes = from.values.template data<Byte>() + begin * from.inner;
    kernels::parallel_for(from.slices, (1 << 16) / (run + 1) + 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t s = first; s < last; ++s) {
        const Byte* const source = bytes + s * from.channels * from.inner;
        const Tensor* zeros = from.zero_point;
        const int zero = zeros == nullptr ? 0 : zeros->template data<Byte>()[zeros->size() == 1 ? 0 : s];
        for (std::int64_t i = 0; i < run; ++i) to[s * run + i] = static_cast<T>(source[i] - zero);
      }
    });
  });
  return out;
}

std::int32_t wrapped(double sum) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)));
}

// y += conv(x, w) for one part.
template <typename T>
void add_part(const ConvShape& part, const Tensor& x, const Tensor& w, Tensor& sums, std::int32_t* y) {
  convolve<T>(part, x.data<T>(), w.data<T>(), nullptr, sums.mutable_data<T>());
  const T* const from = sums.data<T>();
  kernels::parallel_for(sums.size(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if constexpr (sizeof(T) == sizeof(float)) {
        y[i] = wrapping_add(y[i], static_cast<std::int32_t>(from[i]));  // below 2^24
      } else {
        y[i] = wrapping_add(y[i], wrapped(from[i]));
      }
    }
  });
}

template <typename T>
void add_parts(const ConvShape& shape, const Sliced& x, const IntegerParts& w, std::int32_t* y) {
  ConvShape part = shape;
  Tensor sums(dtype_of<T>, shape.output_shape());
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * w.channels;
    const std::int64_t end = std::min(begin + w.channels, x.channels);
    part.channels = (end - begin) * shape.group;
    add_part<T>(part, centred<T>(x, begin, end), w.values[i], sums, y);
  }
}

IntegerParts integer_parts(const Tensor& w, const Tensor* zero_point) {
  const std::int64_t filters = w.dim(0), channels = w.dim(1), kernel = w.shape().count(2, w.rank());
  constexpr std::int64_t most_terms =
      (std::int64_t{1} << std::numeric_limits<float>::digits) / (largest * largest);
  const bool in_float = kernel <= most_terms && w.size() != 0;  // nothing is one part
  IntegerParts out{in_float ? std::max<std::int64_t>(most_terms / std::max<std::int64_t>(kernel, 1), 1)
                            : std::max<std::int64_t>(channels, 1),
                   {}};
  const Sliced sliced{w, filters, channels, kernel, zero_point};
  for (std::int64_t begin = 0; begin < channels; begin += out.channels) {
    const std::int64_t end = std::min(begin + out.channels, channels);
    out.values.push_back(in_float ? centred<float>(sliced, begin, end) : centred<double>(sliced, begin, end));
  }
  return out;
}

// By the kernels of floats.
void convolve_parts(const ConvShape& shape, const Tensor& x, const Tensor* zero_point, const IntegerParts& w,
                    const std::int32_t* bias, std::int32_t* y) {
  const std::int64_t plane = shape.output_size();
  for (std::int64_t i = 0; i < shape.batch * shape.filters; ++i)
    std::fill_n(y + i * plane, plane, bias != nullptr ? bias[i % shape.filters] : 0);
  const Sliced sliced{x, shape.batch * shape.group, shape.channels / shape.group, shape.input_size(),
                      zero_point};
  if (!w.values.empty() && w.values[0].dtype() == DType::float32)
    add_parts<float>(shape, sliced, w, y);
  else
    add_parts<double>(shape, sliced, w, y);
}

// Whether groups have few filters, and sums that float32 holds: a lot of groups at a time stays in the cache.
bool suits_lots(const ConvShape& shape, const Tensor& x, const IntegerFilters& w) {
  return shape.group > 1 && x.size() != 0 && w.parts && w.parts->values.size() == 1 &&
         w.parts->values[0].dtype() == DType::float32;
}

// to = n numbers of x from `first` on, less the zero point.
void centre_run(const Tensor& x, const Tensor* zero_point, std::int64_t first, std::int64_t n, float* to) {
  dispatch(ByteTypes{}, x.dtype(), [&]<typename Byte>() {
    const float one = 1;
    const kernels::Quantization<Byte> by{&one, zero_point ? zero_point->data<Byte>() : nullptr, 0};
    kernels::vec_dequantize(x.data<Byte>() + first, by, to, n);
  });
}

// finish(plane, sums): for each plane of y, in any order, its sums, bias included.
template <typename Finish>
void convolve_lots(const ConvShape& shape, const Tensor& x, const Tensor* zero_point, const float* w,
                   const std::int32_t* bias, const Finish& finish) {
  constexpr std::int64_t cached = 1 << 15;  // numbers read and written that the second level of cache holds
  const std::int64_t channels = shape.channels / shape.group, filters = shape.filters / shape.group;
  const std::int64_t input = channels * shape.input_size(), plane = shape.output_size();
  const std::int64_t weights = filters * channels * shape.kernel_size(), numbers = input + filters * plane;
  const std::int64_t lot = std::clamp<std::int64_t>(cached / numbers, 1, shape.group);
  const std::int64_t lots = ceil_div(shape.group, lot);
  kernels::parallel_for(
      shape.batch * lots, cached / (lot * numbers) + 1, [&](std::int64_t begin, std::int64_t end) {
        Tensor read(DType::float32, Shape{lot * input}), made(DType::float32, Shape{lot * filters * plane});
        ScratchVector<std::int32_t> sums(static_cast<std::size_t>(plane));
        ConvShape part = shape;
        part.batch = 1;
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t group = i % lots * lot, all = i / lots * shape.group + group;
          part.group = std::min(lot, shape.group - group);
          part.channels = part.group * channels;
          part.filters = part.group * filters;
          centre_run(x, zero_point, all * input, part.group * input, read.mutable_data<float>());
          convolve<float>(part, read.data<float>(), w + group * weights, nullptr, made.mutable_data<float>());
          for (std::int64_t m = 0; m < part.filters; ++m) {
            const float* const from = made.data<float>() + m * plane;
            const std::int32_t start = bias != nullptr ? bias[group * filters + m] : 0;
            std::transform(from, from + plane, sums.data(), [=](float sum) {
              return wrapping_add(start, static_cast<std::int32_t>(sum));  // below 2^24
            });
            finish(all * filters + m, sums.data());
          }
        }
      });
}

}  // namespace

IntegerFilters integer_filters(const Tensor& w, const Tensor* zero_point, std::int64_t group) {
  if (w.rank() < 2) refuse();
  const std::int64_t filters = w.dim(0);
  const bool is_scalar = zero_point != nullptr && zero_point->size() == 1 && zero_point->rank() <= 1;
  if (zero_point != nullptr && !is_scalar && !(zero_point->shape() == Shape{filters})) refuse();
  IntegerFilters out{w, {}, plane_filters(w, zero_point, group), {}, {}, {}};
  if (zero_point != nullptr) out.zero_point = *zero_point;
  if (out.planes.empty()) out.panels = filter_panels(w, zero_point, group);
  if (out.planes.empty() && out.panels.empty()) {
    out.taps = tap_filters(w, zero_point);
    out.parts = integer_parts(w, zero_point);
  }
  return out;
}

Tensor integer_convolution(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                           const IntegerFilters& w, const std::int32_t* bias) {
  Tensor out(DType::int32, shape.output_shape());
  if (out.size() == 0) return out;
  std::int32_t* const y = out.mutable_data<std::int32_t>();
  if (w.taps && suits_taps(shape)) {
    convolve_taps(shape, x, zero_point, *w.taps, bias, y);
  } else if (suits_lots(shape, x, w)) {
    const std::int64_t inner = shape.output_size();
    convolve_lots(
        shape, x, zero_point, w.parts->values[0].data<float>(), bias,
        [=](std::int64_t plane, const std::int32_t* sums) { std::copy_n(sums, inner, y + plane * inner); });
  } else if (w.parts) {
    convolve_parts(shape, x, zero_point, *w.parts, bias, y);
  } else if (!suits_windows(shape)) {
    convolve_parts(shape, x, zero_point, integer_parts(w.w, w.zero_point ? &*w.zero_point : nullptr), bias,
                   y);
  } else if (!w.planes.empty()) {
    convolve_planes(shape, x, zero_point, w.planes, bias, y);
  } else {
    convolve_windows(shape, x, zero_point, w.panels, bias, y);
  }
  return out;
}

Tensor quantized_convolution(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                             const IntegerFilters& w, const kernels::Requantization& by, DType dtype) {
  Tensor out(dtype, shape.output_shape());
  if (out.size() == 0) return out;
  auto* const y = static_cast<std::uint8_t*>(out.mutable_raw());
  if (w.taps && suits_taps(shape)) {
    convolve_taps(shape, x, zero_point, *w.taps, by, y);
    return out;
  }
  if (!w.parts && suits_windows(shape)) {
    if (!w.planes.empty()) convolve_planes(shape, x, zero_point, w.planes, by, y);
    if (!w.panels.empty()) convolve_windows(shape, x, zero_point, w.panels, by, y);
    return out;
  }
  const std::int64_t inner = shape.output_size();
  const auto requantize = [&](std::int64_t plane, const std::int32_t* sums) {
    kernels::Requantization here = by;
    here.factors += plane % shape.filters * by.step;
    here.step = 0;
    here.addends = nullptr;
    kernels::vec_requantize(sums, here, y + plane * inner, inner);
  };
  if (suits_lots(shape, x, w)) {
    convolve_lots(shape, x, zero_point, w.parts->values[0].data<float>(), by.addends, requantize);
    return out;
  }
  const Tensor sums = integer_convolution(shape, x, zero_point, w, by.addends);
  kernels::parallel_for(shape.batch * shape.filters, (1 << 14) / (inner + 1) + 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t plane = begin; plane < end; ++plane)
                            requantize(plane, sums.data<std::int32_t>() + plane * inner);
                        });
  return out;
}

}  // namespace grurun::engine
