// GridSample (ai.onnx 16, 20, 22).
//
//   Y[n, c, o...] = the value of X[n, c] at the point grid[n, o..., :]
//
// X [N, C, D1...Dr], grid [N, O1...Or, r] -> Y [N, C, O1...Or]. A grid vector lists the coordinates from the
// innermost axis outward; -1 and 1 are the centers of an axis's outermost elements (align_corners) or their
// outer edges. Version 16 takes r = 2 and calls linear bilinear, cubic bicubic; 22 adds bfloat16. Sums of
// integers are cut off to integers that their type holds. nearest takes strings too, "" being their zero.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/interpolation.h"
#include "engine/ops/shared/point_sampler.h"
#include "tensor/dispatch.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

struct GridAttributes {
  SampleMode mode;
  Padding padding;
  bool align_corners;
};

GridAttributes read_attributes(PrepareContext& node) {
  const bool first = node.since_version() == 16;
  const std::string linear = first ? "bilinear" : "linear", cubic = first ? "bicubic" : "cubic";
  GridAttributes read{};
  const std::string mode = node.string_attribute("mode", linear);
  read.mode = mode == "nearest" ? SampleMode::nearest
              : mode == linear  ? SampleMode::linear
                                : SampleMode::cubic;
  const std::string padding = node.string_attribute("padding_mode", "zeros");
  read.padding = padding == "zeros"    ? Padding::zeros
                 : padding == "border" ? Padding::border
                                       : Padding::reflection;
  read.align_corners = node.flag_attribute("align_corners", false);
  return read;
}

// Y's shape, once X and grid are known to fit.
Shape output_shape(const Shape& x, const Shape& grid, const GridAttributes& attributes, int version) {
  if (x.rank() < 3 || grid.rank() != x.rank()) refuse();
  if (version == 16 && x.rank() != 4) refuse();
  const std::size_t r = x.rank() - 2;
  if (grid[0] != x[0] || grid[r + 1] != static_cast<std::int64_t>(r)) refuse();
  Shape y{x[0], x[1]};
  for (std::size_t d = 0; d < r; ++d) y.push_back(grid[d + 1]);
  if (attributes.padding != Padding::zeros && y.element_count() != 0 && x.count(2, x.rank()) == 0) refuse();
  return y;
}

// Coordinate g of the grid as an index along an axis of this length.
template <typename C>
C denormalized(C g, std::int64_t length, bool align_corners) {
  const auto n = static_cast<C>(length);
  return align_corners ? (g + C(1)) / C(2) * (n - C(1)) : ((g + C(1)) * n - C(1)) / C(2);
}

// Places of Y that lie one after the other in every plane of a batch, and what each is made of.
template <typename C>
class PointBlock {
 public:
  static constexpr std::int64_t most_points = 64;

  std::int64_t batch = 0, first = 0;

  // Calls body(point, its taps) for all points.
  template <typename Body>
  void for_each(Body&& body) const {
    const Tap<C>* from = taps_.data();
    std::int64_t point = 0;
    for (const std::size_t end : ends_) {
      const std::span<const Tap<C>> taps{from, taps_.data() + end};
      body(point++, taps);
      from += taps.size();
    }
  }

  void add(std::span<const Tap<C>> taps) {
    taps_.insert(taps_.end(), taps.begin(), taps.end());
    ends_.push_back(taps_.size());
  }
  void clear() {
    taps_.clear();
    ends_.clear();
  }

 private:
  ScratchVector<Tap<C>> taps_;
  ScratchVector<std::size_t> ends_;  // of each point's taps
};

// Calls body(block) for all blocks of all places.
template <typename C, typename Body>
void for_each_block(const Shape& x, const Tensor& grid, std::int64_t places, const GridAttributes& attributes,
                    Body&& body) {
  constexpr std::int64_t operations_per_piece = 16384;
  const std::size_t r = x.rank() - 2;
  const auto dims = x.dims().subspan(2);
  const C* vectors = grid.data<C>();
  const std::int64_t grain = operations_per_piece / (std::max<std::int64_t>(1, x[1]) * 8) + 1;
  kernels::parallel_for(x[0] * places, grain, [&](std::int64_t begin, std::int64_t end) {
    PointSampler<C> sampler(dims, attributes.mode, attributes.padding, attributes.align_corners);
    ScratchVector<C> at(r);
    PointBlock<C> block;
    for (std::int64_t i = begin; i < end;) {
      block.clear();
      block.batch = i / places;
      block.first = i % places;
      const std::int64_t left = std::min(end - i, places - block.first);
      for (const std::int64_t stop = i + std::min(left, block.most_points); i < stop; ++i) {
        const C* vector = vectors + i * static_cast<std::int64_t>(r);
        for (std::size_t d = 0; d < r; ++d)
          at[d] = denormalized(vector[r - 1 - d], dims[d], attributes.align_corners);
        block.add(sampler.taps(at.data()));
      }
      body(block);
    }
  });
}

// A plane has `size` elements in X and `places` in Y.
struct Planes {
  std::int64_t channels, size, places;
};

template <typename C>
void copy_nearest(const Tensor& x, const Tensor& grid, const Planes& planes, const GridAttributes& attributes,
                  Tensor& y) {
  dispatch_width(x.dtype(), [&]<typename T>() {
    const T* from = static_cast<const T*>(x.raw());
    T* to = static_cast<T*>(y.mutable_raw());
    for_each_block<C>(x.shape(), grid, planes.places, attributes, [&](const PointBlock<C>& block) {
      for (std::int64_t c = 0; c < planes.channels; ++c) {
        const std::int64_t plane = block.batch * planes.channels + c;
        T* const target = to + plane * planes.places + block.first;
        block.for_each([&](std::int64_t i, std::span<const Tap<C>> taps) {
          target[i] = taps.empty() ? T{} : from[plane * planes.size + taps[0].offset];
        });
      }
    });
  });
}

// The sum of one plane's elements that a point takes. A complex element is `width` = 2 real ones. Of integers
// the fraction is cut off, but for what the rounding of weights left of one: equal elements make what they
// are.
template <std::int64_t width, typename C, typename T>
T sum_of(std::span<const Tap<C>> taps, const T* plane) {
  using Sum = InterpolationType<T>;
  Sum sum = 0, size = 0;
  const auto add = [&](const Tap<C>& tap) {
    const Sum part = static_cast<Sum>(tap.weight) * static_cast<Sum>(plane[tap.offset * width]);
    sum += part;
    if constexpr (std::is_integral_v<T>) size += std::abs(part);
  };
  if (taps.size() == 4) {  // most points of linear in two dimensions: no loop
    add(taps[0]), add(taps[1]), add(taps[2]), add(taps[3]);
  } else {
    for (const Tap<C>& tap : taps) add(tap);
  }
  const Sum error = size * static_cast<Sum>(4 * std::numeric_limits<C>::epsilon());
  return truncated_to<T>(sum, std::min(error, Sum(0.25)));
}

template <std::int64_t width, typename C, typename T>
void sum_taps(const Tensor& x, const Tensor& grid, const Planes& planes, const GridAttributes& attributes,
              Tensor& y) {
  const T* from = static_cast<const T*>(x.raw());
  T* to = static_cast<T*>(y.mutable_raw());
  for_each_block<C>(x.shape(), grid, planes.places, attributes, [&](const PointBlock<C>& block) {
    for (std::int64_t c = 0; c < planes.channels; ++c) {
      const std::int64_t plane = block.batch * planes.channels + c;
      for (std::int64_t part = 0; part < width; ++part) {
        const T* const source = from + plane * planes.size * width + part;
        T* const target = to + (plane * planes.places + block.first) * width + part;
        block.for_each([&](std::int64_t i, std::span<const Tap<C>> taps) {
          target[i * width] = sum_of<width>(taps, source);
        });
      }
    }
  });
}

template <typename C>
void sample(const Tensor& x, const Tensor& grid, const GridAttributes& attributes, Tensor& y) {
  const Shape& shape = x.shape();
  const Planes planes{shape[1], shape.count(2, shape.rank()), y.shape().count(2, shape.rank())};
  if (attributes.mode == SampleMode::nearest) {
    copy_nearest<C>(x, grid, planes, attributes, y);
  } else if (x.dtype() == DType::complex64) {
    sum_taps<2, C, float>(x, grid, planes, attributes, y);
  } else if (x.dtype() == DType::complex128) {
    sum_taps<2, C, double>(x, grid, planes, attributes, y);
  } else {
    dispatch(Join<Numbers, TypeList<bool>>{}, x.dtype(),
             [&]<typename T>() { sum_taps<1, C, T>(x, grid, planes, attributes, y); });
  }
}

// The grid with elements of C; a double one is never made narrower.
template <typename C>
Tensor grid_as(const Tensor& grid) {
  if (dtype_of<C> == DType::float64 && grid.dtype() != DType::float64) {
    const Tensor single = widened<float>(grid);
    Tensor wide(DType::float64, grid.shape());
    std::copy_n(single.data<float>(), single.size(), wide.mutable_data<double>());
    return wide;
  }
  return widened<C>(grid);
}

RunFunction prepare_grid_sample(PrepareContext& node) {
  return [attributes = read_attributes(node), version = node.since_version()](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& grid = run.tensor(1);
    const Shape shape = output_shape(x.shape(), grid.shape(), attributes, version);
    if (x.dtype() == DType::string && attributes.mode != SampleMode::nearest) {
      fail_unsupported("strings cannot be interpolated; of the modes, nearest alone has a meaning for them");
    }
    Tensor& y = run.output(0, x.dtype(), shape);
    if (y.size() == 0) return;
    const auto is_double = [](const Tensor& t) {
      return t.dtype() == DType::float64 || t.dtype() == DType::complex128;
    };
    if (is_double(x) || is_double(grid)) {
      sample<double>(x, grid_as<double>(grid), attributes, y);
    } else {
      sample<float>(x, grid_as<float>(grid), attributes, y);
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_grid_sample() {
  return {{"", "GridSample", {16, 20, 22}, prepare_grid_sample}};
}

}  // namespace grurun::engine
