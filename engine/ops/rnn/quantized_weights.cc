#include "engine/ops/rnn/quantized_weights.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/kernels/parallel.h"
#include "engine/kernels/vec_fused.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine::rnn {
namespace {

// The column of the weights that stands at each place of panel order; -1: padding.
std::vector<std::int64_t> columns_in_panel_order(const kernels::GatePanels<float>& order) {
  std::vector<std::int64_t> columns;
  for (std::int64_t panel = 0; panel < order.panels(); ++panel) {
    for (std::int64_t gate = 0; gate < order.gates(); ++gate) {
      for (std::int64_t i = 0; i < order.units(panel); ++i) {
        const std::int64_t unit = order.first_unit(panel) + i;
        columns.push_back(unit < order.hidden_size() ? gate * order.hidden_size() + unit : -1);
      }
    }
  }
  return columns;
}

/// The quotients x / scale, rounded and kept within the 256 steps, less the zero point.
void quantize_centred(const float* x, std::int64_t n, const DynamicRange& range, std::int16_t* to) {
  std::array<std::uint8_t, 1024> quantized;
  for (std::int64_t begin = 0; begin < n; begin += static_cast<std::int64_t>(quantized.size())) {
    const std::int64_t count = std::min(n - begin, static_cast<std::int64_t>(quantized.size()));
    kernels::vec_quantize(x + begin, range.scale, range.zero_point, quantized.data(), count);
    std::transform(quantized.begin(), quantized.begin() + count, to + begin,
                   [&](std::uint8_t q) { return static_cast<std::int16_t>(q - range.zero_point); });
  }
}

}  // namespace

QuantizedWeights::QuantizedWeights(const Tensor& weights, const Tensor& scale, const Tensor& zero_point,
                                   std::int64_t direction, const kernels::GatePanels<float>& order)
    : K_(weights.dim(1)), scale_(Tensor::zeros(DType::float32, {order.width()})) {
  Tensor columns = Tensor::zeros(DType::int16, {order.width(), K_});
  const std::int64_t N = weights.dim(2);
  const bool by_column = scale.rank() == 2;
  const std::int64_t first = by_column ? direction * N : direction;
  dispatch(TypeList<std::int8_t, std::uint8_t>{}, weights.dtype(), [&]<typename T>() {
    const T* from = weights.data<T>() + direction * K_ * N;
    std::int16_t* to = columns.mutable_data<std::int16_t>();
    float* to_scale = scale_.mutable_data<float>();
    for (const std::int64_t n : columns_in_panel_order(order)) {
      if (n >= 0) {
        const std::int64_t parameter = first + (by_column ? n : 0);
        const T zero = zero_point.data<T>()[parameter];
        *to_scale = scale.data<float>()[parameter];
        for (std::int64_t k = 0; k < K_; ++k) to[k] = static_cast<std::int16_t>(from[k * N + n] - zero);
      }
      to += K_;
      ++to_scale;
    }
  });
  columns_ = {columns, K_};
}

void QuantizedWeights::add_product(std::int64_t rows, kernels::Rows<const float> A, const DynamicRange& range,
                                   kernels::Rows<float> to) const {
  Tensor quantized(DType::int16, {rows, K_});
  auto* q = quantized.mutable_data<std::int16_t>();
  for (std::int64_t row = 0; row < rows; ++row) quantize_centred(A.row(row), K_, range, q + row * K_);
  const float* scale = scale_.data<float>();
  constexpr std::int64_t strip = 64;  // columns at a time: they stay in the cache for all rows
  const std::int64_t strips = scale_.size() / kernels::kGateLanes<float>;
  static_assert(strip % kernels::kGateLanes<float> == 0);
  const std::int64_t grain = (std::int64_t{1} << 18) / (rows * K_ * kernels::kGateLanes<float> + 1) + 1;
  kernels::parallel_for(strips, grain, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t end = last * kernels::kGateLanes<float>;
    for (std::int64_t n = first * kernels::kGateLanes<float>; n < end; n += strip) {
      const std::int64_t count = std::min(strip, end - n);
      std::array<std::int64_t, strip> sums;
      for (std::int64_t row = 0; row < rows; ++row) {
        columns_.dots(q + row * K_, 1, n, count, sums.data());
        for (std::int64_t i = 0; i < count; ++i) {
          to.row(row)[n + i] +=
              range.scale * scale[n + i] * static_cast<float>(sums[static_cast<std::size_t>(i)]);
        }
      }
    }
  });
}

}  // namespace grurun::engine::rnn
