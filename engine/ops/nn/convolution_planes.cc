#include "engine/ops/nn/convolution_planes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "engine/kernels/gemm/gemm_tile.h"
#include "engine/kernels/gemm/panel_gather.h"
#include "engine/kernels/vec/vec_transpose.h"
#include "engine/ops/nn/convolution_parts.h"

namespace grurun::engine {

namespace {

// The zeros that end a row and those that begin the next can be the same.
std::int64_t shared_zeros(const WindowAxis& axis, const RowLayout& layout) {
  std::int64_t shared = layout.width;
  for (const std::int64_t first : layout.first) {
    const auto [begin, end] = inside_input(axis, first, layout.width);
    shared = std::min({shared, begin, layout.width - end});
  }
  return shared;
}

bool is_plain(const WindowAxis& axis) {
  return axis.kernel == 1 && axis.stride == 1 && axis.input == axis.output;
}

}  // namespace

std::optional<PlaneLayout> plane_layout(const WindowAxes& axes) {
  if (axes.size() > 2) return std::nullopt;
  PlaneLayout layout;
  // Columns of one element are no rows: two such axes are one.
  const bool is_column =
      axes.size() == 2 && axes.back().input == 1 && is_plain(axes.back()) && axes.back().pad_begin == 0;
  layout.column_axis = is_column ? axes.front() : axes.back();
  layout.row_axis = axes.size() == 2 && !is_column ? axes.front() : WindowAxis{.input = 1, .output = 1};
  layout.rows = shared_layout(layout.row_axis, 1);
  layout.columns = shared_layout(layout.column_axis, 1);
  layout.pitch = layout.columns.width - shared_zeros(layout.column_axis, layout.columns);
  // Rows above and below those of a block, which several blocks load, must not be many more than the kernel
  // has; and planes not much larger than the input.
  const bool is_near = layout.rows.width - layout.row_axis.output <= 2 * layout.row_axis.kernel;
  const auto is_padding = [](const WindowAxis& axis, const RowLayout& each) {
    return each.width > (2 * axis.input + 64) / static_cast<std::int64_t>(each.first.size());
  };
  if (!is_near || is_padding(layout.row_axis, layout.rows) ||
      is_padding(layout.column_axis, layout.columns)) {
    return std::nullopt;
  }
  layout.is_plain = is_plain(layout.row_axis) && is_plain(layout.column_axis);
  layout.is_signal = is_plain(layout.row_axis) && layout.row_axis.input == 1;
  return layout;
}

template <typename T>
std::int64_t PlaneBlock<T>::rows_within(std::int64_t elements) const {
  const auto variants = static_cast<std::int64_t>(layout_.rows.first.size() * layout_.columns.first.size());
  const std::int64_t rows = elements / std::max<std::int64_t>(1, channels_ * variants * layout_.pitch);
  return std::clamp<std::int64_t>(rows - plane_rows(0), 1,
                                  std::max<std::int64_t>(1, layout_.row_axis.output));
}

template <typename T>
void PlaneBlock<T>::lay_out(std::int64_t count) {
  laid_out_ = count;
  const RowLayout &rows = layout_.rows, &columns = layout_.columns;
  plane_ = plane_rows(count) * layout_.pitch;
  const auto row_variants = static_cast<std::int64_t>(rows.first.size());
  const auto column_variants = static_cast<std::int64_t>(columns.first.size());
  const std::int64_t channel = row_variants * column_variants * plane_, size = channels_ * channel;
  row_step_ = layout_.is_signal ? channel : layout_.pitch;
  // Rows of the last plane may end with zeros that begin the next, and a run of whole vectors that ends with
  // the last place may fill one more.
  const std::int64_t slack = columns.width - layout_.pitch + 2 * kernels::columns_of_vector<T>;
  if (planes_.size() < size + slack) planes_ = Tensor(dtype_of<T>, Shape{size + slack});
  inside_.clear();
  for (const std::int64_t first : columns.first)
    inside_.push_back(inside_input(layout_.column_axis, first, layout_.pitch));
  clear_padding();
  std::fill_n(planes_.template mutable_data<T>() + size, slack, T(0));
  ScratchVector<std::int64_t> of_channel;
  for (const RowLayout::Tap& down : rows.taps) {
    for (const RowLayout::Tap& right : columns.taps) {
      const std::int64_t from = down.variant * column_variants + right.variant;
      of_channel.push_back(from * plane_ + down.shift * layout_.pitch + right.shift);
    }
  }
  offsets_.resize(of_channel.size() * static_cast<std::size_t>(channels_));
  std::int64_t* offset = offsets_.data();
  for (std::int64_t c = 0; c < channels_; ++c) {
    for (const std::int64_t tap : of_channel) *offset++ = c * channel + tap;
  }
}

// What no row of the input is copied to stays 0. Comes before any copy: what is cleared beside is copied to.
template <typename T>
void PlaneBlock<T>::clear_padding() {
  const std::int64_t pitch = layout_.pitch;
  T* row = planes_.template mutable_data<T>();
  for (std::int64_t i = channels_ * static_cast<std::int64_t>(layout_.rows.first.size()); i > 0; --i) {
    for (const auto& [begin, end] : inside_) {
      for (T* const behind = row + plane_; row != behind; row += pitch) {
        clear_run(row, row + begin);
        clear_run(row + end, row + pitch);
      }
    }
  }
}

template <typename T>
void PlaneBlock<T>::load(const T* x, std::int64_t row, std::int64_t count, std::int64_t channels) {
  const WindowAxis& down = layout_.row_axis;
  count_ = count;
  if (layout_.is_plain) {
    data_ = x + row * layout_.pitch;
    offsets_.resize(static_cast<std::size_t>(channels));
    for (std::int64_t c = 0; c < channels; ++c)
      offsets_[static_cast<std::size_t>(c)] = c * down.input * layout_.pitch;
    return;
  }
  if (count > laid_out_) lay_out(count);
  const std::int64_t height = plane_rows(count), width = layout_.column_axis.input, pitch = layout_.pitch;
  const auto column_variants = static_cast<std::int64_t>(layout_.columns.first.size());
  T* to = planes_.template mutable_data<T>();
  data_ = to;
  if (layout_.is_signal) return copy_rows(x, channels, to);  // those of channels are so far apart
  for (std::int64_t c = 0; c < channels; ++c) {
    for (const std::int64_t first : layout_.rows.first) {
      // Row i reads row `at` and those a stride on; rows [begin, end) are inside.
      const std::int64_t at = row * down.stride + first;
      const std::int64_t begin = std::min(height, at >= 0 ? 0 : ceil_div(-at, down.stride));
      const std::int64_t end = std::clamp(ceil_div(down.input - at, down.stride), begin, height);
      clear_rows(to, begin);
      if (begin < end)
        copy_rows(x + (c * down.input + at + begin * down.stride) * width, end - begin, to + begin * pitch);
      clear_rows(to + end * pitch, height - end);
      to += column_variants * plane_;
    }
  }
}

// Zeros in rows of each variant of columns.
template <typename T>
void PlaneBlock<T>::clear_rows(T* to, std::int64_t count) const {
  for (const auto& [begin, end] : inside_) {
    for (std::int64_t i = 0; i < count && begin < end; ++i)
      std::fill(to + i * layout_.pitch + begin, to + i * layout_.pitch + end, T(0));
    to += plane_;
  }
}

// Rows of each variant of columns.
template <typename T>
void PlaneBlock<T>::copy_rows(const T* source, std::int64_t count, T* to) const {
  const WindowAxis& axis = layout_.column_axis;
  const std::int64_t ld = layout_.row_axis.stride * axis.input;
  if (axis.stride == 2 && inside_.size() == 2) {
    // Both variants together, as far as pairs of columns go.
    const auto [begin, end] = inside_[0];
    const auto [other_begin, other_end] = inside_[1];
    const std::int64_t first = layout_.columns.first[0] + 2 * begin;
    const std::int64_t second = layout_.columns.first[1] + 2 * other_begin;
    const std::int64_t pairs = std::min(end - begin, other_end - other_begin);
    if (pairs > 0 && std::abs(second - first) == 1) {
      T *even = to + begin, *odd = to + plane_ + other_begin;
      if (second < first) std::swap(even, odd);
      kernels::split_rows({source + std::min(first, second), ld, count, pairs, row_step_}, even, odd);
      copy_columns(source, count, 0, begin + pairs, to);
      copy_columns(source, count, 1, other_begin + pairs, to + plane_);
      return;
    }
  }
  if (is_transposed()) {
    const auto [begin, end] = inside_[0];
    source += layout_.columns.first[0] + begin * axis.stride;
    for (std::int64_t i = 0; i < count; ++i) {
      kernels::vec_transpose(source + i * ld, axis.stride, end - begin, axis.stride,
                             to + i * row_step_ + begin, plane_);
    }
    return;
  }
  for (std::size_t v = 0; v < inside_.size(); ++v, to += plane_)
    copy_columns(source, count, v, inside_[v].first, to);
}

// Whether the variants are the columns of what a row is when it is cut up by the stride.
template <typename T>
bool PlaneBlock<T>::is_transposed() const {
  const auto& first = layout_.columns.first;
  if (layout_.column_axis.stride <= 2 ||
      static_cast<std::int64_t>(first.size()) != layout_.column_axis.stride)
    return false;
  for (std::size_t v = 1; v < first.size(); ++v) {
    if (first[v] != first[v - 1] + 1 || inside_[v] != inside_[0]) return false;
  }
  return inside_[0].first < inside_[0].second;
}

// Rows of one variant, from this column on.
template <typename T>
void PlaneBlock<T>::copy_columns(const T* source, std::int64_t count, std::size_t variant, std::int64_t begin,
                                 T* to) const {
  const WindowAxis& axis = layout_.column_axis;
  const std::int64_t n = inside_[variant].second - begin, ld = layout_.row_axis.stride * axis.input;
  if (n <= 0) return;
  source += layout_.columns.first[variant] + begin * axis.stride;
  to += begin;
  if (axis.stride == 2) return kernels::split_rows({source, ld, count, n, row_step_}, to, nullptr);
  for (std::int64_t i = 0; i < count; ++i, source += ld, to += row_step_) {
    if (axis.stride == 1) {
      copy_run(source, n, to);
    } else {
      for (std::int64_t k = 0; k < n; ++k) to[k] = source[k * axis.stride];
    }
  }
}

template <typename T>
void PlaneBlock<T>::pack(std::int64_t begin, std::int64_t end, std::int64_t k, std::int64_t rows,
                         T* packed) const {
  constexpr std::int64_t unit = kernels::columns_of_vector<T>;
  const std::int64_t width = layout_.column_axis.output, pitch = layout_.pitch;
  const std::int64_t* offsets = offsets_.data() + k;
  if (is_dense()) return kernels::gather_panel(data_ + begin, offsets, rows, end - begin, packed);
  kernels::PanelRuns runs;
  const std::int64_t columns = (end - begin + unit - 1) / unit * unit;
  for (std::int64_t place = begin; place < end;) {
    const std::int64_t row = place / width, column = place % width, to = place - begin;
    const std::int64_t adjacent = std::min(width - column, end - place);
    const std::int64_t copied = place + adjacent == end ? columns - to : adjacent;
    for (std::int64_t i = 0; i < copied; i += unit) {
      runs.from[runs.count] = row * pitch + column + i;
      runs.to[runs.count++] = to + i;
    }
    place += adjacent;
  }
  kernels::gather_runs(data_, offsets, rows, runs, columns, packed);
}

template class PlaneBlock<float>;
template class PlaneBlock<double>;

}  // namespace grurun::engine
