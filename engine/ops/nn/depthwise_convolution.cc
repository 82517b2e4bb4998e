#include "engine/ops/nn/depthwise_convolution.h"

#include <algorithm>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/tap_sums.h"
#include "engine/ops/nn/convolution_parts.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t most_filters = 4;            // of a group
constexpr std::int64_t cached_elements = 8 * 1024;  // that stay in the first level of cache,
constexpr std::int64_t least_rows = 16;             // but no fewer, of which some would be loaded too often
constexpr std::int64_t tail_elements = 4 * 1024;    // for which the tail's calls take little time
constexpr std::int64_t task_products = 1 << 16;     // that are worth a thread's while

/// Rows of a plane, or several planes, that are loaded together: what was only just stored takes long to
/// read.
struct Blocks {
  std::int64_t planes, rows;  // of a block
  std::int64_t across, down;  // blocks of all planes, and of the rows of one

  Blocks(std::int64_t all_planes, std::int64_t all_rows, std::int64_t rows_within) {
    rows_within = std::max(rows_within, std::min(least_rows, all_rows));
    down = ceil_div(all_rows, rows_within);
    rows = ceil_div(all_rows, down);
    planes = down > 1 ? 1 : std::min(all_planes, rows_within / all_rows);
    const std::int64_t threads = kernels::threads();
    if (threads > 1) planes = std::clamp<std::int64_t>(all_planes / (4 * threads), 1, planes);
    across = ceil_div(all_planes, planes);
    while (across * down < threads && rows > 1) {
      rows = ceil_div(rows, 2);
      down = ceil_div(all_rows, rows);
    }
  }
};

template <typename T>
class DepthwiseConvolution {
 public:
  DepthwiseConvolution(const ConvShape& shape, const PlaneLayout& layout, const T* x, const T* w,
                       const T* bias, T* y, const RowTail<T>& tail)
      : shape_(shape), layout_(layout), x_(x), w_(w), bias_(bias), y_(y), tail_(tail) {}

  void run() const {
    const std::int64_t products = blocks_.planes * blocks_.rows * width_ * filters_ * taps_;
    kernels::parallel_for(blocks_.across * blocks_.down, task_products / products + 1,
                          [&](std::int64_t begin, std::int64_t end) {
                            PlaneBlock<T> block(layout_, blocks_.planes);
                            std::int64_t ended = begin * blocks_.planes;  // planes up to this one
                            for (std::int64_t i = begin; i < end; ++i) {
                              run(block, i);
                              if (!tail_ || blocks_.down > 1) continue;
                              const std::int64_t done = std::min(planes_, (i + 1) * blocks_.planes);
                              if (i + 1 < end && (done - ended) * filters_ * output_size_ < tail_elements)
                                continue;
                              end_with_tail(ended, done);
                              ended = done;
                            }
                          });
  }

 private:
  void run(PlaneBlock<T>& block, std::int64_t i) const {
    const std::int64_t row = i % blocks_.down * blocks_.rows, plane = i / blocks_.down * blocks_.planes;
    const std::int64_t rows = std::min(blocks_.rows, rows_ - row);
    const std::int64_t planes = std::min(blocks_.planes, planes_ - plane);
    if (rows <= 0) return;
    block.load(x_ + plane * input_size_, row, rows, planes);
    for (std::int64_t c = 0; c < planes; ++c) {
      const std::int64_t first = (plane + c) % shape_.channels * filters_;
      T* y = y_ + (plane + c) * filters_ * output_size_ + row * width_;
      for (std::int64_t m = first; m < first + filters_; ++m, y += output_size_) {
        kernels::sum_taps(kernels::TapSums<T>{rows, width_, taps_, block.taps_down(), w_ + m * taps_,
                                              block.offsets() + c * taps_, bias_ != nullptr ? bias_[m] : T(0),
                                              block.place(0), layout_.pitch, y, width_});
        if (tail_ && blocks_.down > 1) tail_(y, rows * width_, {m, output_size_});
      }
    }
  }

  // Planes of an image lie side by side.
  void end_with_tail(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t from = begin, to = 0; from < end; from = to) {
      const std::int64_t channel = from % shape_.channels;
      to = std::min(end, from + shape_.channels - channel);
      tail_(y_ + from * filters_ * output_size_, (to - from) * filters_ * output_size_,
            {channel * filters_, output_size_});
    }
  }

  const ConvShape& shape_;
  const PlaneLayout& layout_;
  const T *x_, *w_, *bias_;
  T* y_;
  const RowTail<T>& tail_;
  const std::int64_t taps_ = shape_.kernel_size(), filters_ = shape_.filters / shape_.group;
  const std::int64_t planes_ = shape_.batch * shape_.channels, rows_ = layout_.row_axis.output,
                     width_ = layout_.column_axis.output;
  const std::int64_t input_size_ = shape_.input_size(), output_size_ = shape_.output_size();
  const Blocks blocks_{planes_, rows_, PlaneBlock<T>(layout_, 1).rows_within(cached_elements)};
};

}  // namespace

bool is_depthwise(const ConvShape& shape, const PlaneLayout& layout) {
  return shape.group == shape.channels && shape.filters / shape.group <= most_filters && !layout.is_plain;
}

template <typename T>
void convolve_depthwise(const ConvShape& shape, const PlaneLayout& layout, const T* x, const T* w,
                        const T* bias, T* y, const RowTail<T>& tail) {
  DepthwiseConvolution<T>(shape, layout, x, w, bias, y, tail).run();
}

template void convolve_depthwise(const ConvShape&, const PlaneLayout&, const float*, const float*,
                                 const float*, float*, const RowTail<float>&);
template void convolve_depthwise(const ConvShape&, const PlaneLayout&, const double*, const double*,
                                 const double*, double*, const RowTail<double>&);

}  // namespace grurun::engine
