#include "engine/ops/nn/convolution_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace grurun::engine {

namespace {

std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Mixed-radix digits of number, the last axis fastest.
template <typename Radix>
void digits(std::int64_t number, std::size_t count, const Radix& radix, std::int64_t* out) {
  for (std::size_t d = count; d-- > 0;) {
    out[d] = number % radix(d);
    number /= radix(d);
  }
}

}  // namespace

std::pair<std::int64_t, std::int64_t> inside_input(const WindowAxis& axis, std::int64_t first,
                                                   std::int64_t width) {
  const std::int64_t begin = first >= 0 ? 0 : (-first + axis.stride - 1) / axis.stride;
  const std::int64_t left = axis.input - first;
  const std::int64_t end = left <= 0 ? 0 : (left + axis.stride - 1) / axis.stride;
  return {std::min(begin, width), std::clamp(end, std::min(begin, width), width)};
}

RowLayout shared_layout(const WindowAxis& inner, std::int64_t columns) {
  RowLayout layout;
  // The place of a tap within a stride comes again after so many taps.
  const std::int64_t period = inner.stride / std::gcd(inner.stride, inner.dilation);
  for (std::int64_t k = 0; k < inner.kernel; ++k) {
    const std::int64_t place = k * inner.dilation;
    if (k < period) layout.first.push_back(place % inner.stride - inner.pad_begin);
    layout.taps.push_back({k % period, place / inner.stride});
  }
  layout.width = round_up(inner.output, columns) + (inner.kernel - 1) * inner.dilation / inner.stride;
  return layout;
}

RowLayout row_layout(const WindowAxis& inner, std::int64_t columns) {
  RowLayout layout = shared_layout(inner, columns);
  // Taps far apart, in an input that is mostly padding, would make rows longer than a row for each tap.
  const std::int64_t alone = round_up(inner.output, columns);
  if (layout.width / inner.kernel <= alone) return layout;
  layout = {{}, {}, alone};
  for (std::int64_t k = 0; k < inner.kernel; ++k) {
    layout.first.push_back(k * inner.dilation - inner.pad_begin);
    layout.taps.push_back({k, 0});
  }
  return layout;
}

template <typename T>
BlockRows<T>::BlockRows(const WindowAxes& axes, const RowLayout& layout, std::int64_t channels)
    : axes_(axes), layout_(layout), channels_(channels) {
  for (std::size_t d = 0; d + 1 < axes.size(); ++d) {
    outer_taps_ *= axes[d].kernel;
    input_rows_ *= axes[d].input;
  }
  offsets_.resize(static_cast<std::size_t>(channels_ * outer_taps_) * layout_.taps.size());
}

template <typename T>
std::int64_t BlockRows<T>::rows_within(std::int64_t elements) const {
  const std::int64_t a_row = channels_ * static_cast<std::int64_t>(layout_.first.size()) * layout_.width;
  const std::int64_t stride = axes_.size() < 2 ? 1 : axes_[axes_.size() - 2].stride;
  const std::int64_t input_rows = elements / std::max<std::int64_t>(1, a_row);
  return std::max<std::int64_t>(1, (input_rows - outer_taps_) / std::min(stride, outer_taps_));
}

template <typename T>
std::int64_t BlockRows<T>::input_row(const std::int64_t* place, const std::int64_t* tap) const {
  std::int64_t row = 0;
  for (std::size_t d = 0; d + 1 < axes_.size(); ++d) {
    const std::int64_t at = axes_[d].start(place[d]) + tap[d] * axes_[d].dilation;
    if (at < 0 || at >= axes_[d].input) return outside;
    row = row * axes_[d].input + at;
  }
  return row;
}

template <typename T>
void BlockRows<T>::load(const T* x, std::int64_t row, std::int64_t count) {
  const std::size_t outer = axes_.size() - 1;
  ScratchVector<std::int64_t> place(outer), tap(outer);
  slots_.clear();
  slot_of_.clear();
  for (std::int64_t r = row; r < row + count; ++r) {
    digits(
        r, outer, [&](std::size_t d) { return axes_[d].output; }, place.data());
    for (std::int64_t t = 0; t < outer_taps_; ++t) {
      digits(
          t, outer, [&](std::size_t d) { return axes_[d].kernel; }, tap.data());
      const std::int64_t from = input_row(place.data(), tap.data());
      slot_of_.push_back(from == outside
                             ? outside
                             : slots_.emplace(from, static_cast<std::int64_t>(slots_.size())).first->second);
    }
  }
  const std::int64_t slot_size = channels_ * static_cast<std::int64_t>(layout_.first.size()) * layout_.width;
  const std::int64_t size = layout_.width + static_cast<std::int64_t>(slots_.size()) * slot_size;
  if (rows_.size() < size) rows_ = Tensor(dtype_of<T>, Shape{size});
  T* to = rows_.template mutable_data<T>();
  std::fill_n(to, layout_.width, T(0));
  for (const auto& [from, slot] : slots_) copy_row(x, from, to + layout_.width + slot * slot_size);
}

template <typename T>
void BlockRows<T>::copy_row(const T* x, std::int64_t row, T* to) const {
  const WindowAxis& inner = axes_.back();
  for (std::int64_t c = 0; c < channels_; ++c) {
    const T* source = x + (c * input_rows_ + row) * inner.input;
    for (const std::int64_t first : layout_.first) {
      const auto [begin, end] = inside_input(inner, first, layout_.width);
      std::fill_n(to, begin, T(0));
      if (inner.stride == 1) {
        std::copy(source + first + begin, source + first + end, to + begin);
      } else {
        for (std::int64_t i = begin; i < end; ++i) to[i] = source[first + i * inner.stride];
      }
      std::fill(to + end, to + layout_.width, T(0));
      to += layout_.width;
    }
  }
}

template <typename T>
const std::int64_t* BlockRows<T>::offsets(std::int64_t index) {
  const auto variants = static_cast<std::int64_t>(layout_.first.size());
  const std::int64_t* slots = slot_of_.data() + index * outer_taps_;
  std::int64_t* to = offsets_.data();
  for (std::int64_t c = 0; c < channels_; ++c) {
    for (std::int64_t t = 0; t < outer_taps_; ++t) {
      const std::int64_t base = (slots[t] * channels_ + c) * variants;
      for (const RowLayout::Tap& tap : layout_.taps) {
        *to++ = slots[t] == outside ? 0 : (1 + base + tap.variant) * layout_.width + tap.shift;
      }
    }
  }
  return offsets_.data();
}

template class BlockRows<float>;
template class BlockRows<double>;

}  // namespace grurun::engine
