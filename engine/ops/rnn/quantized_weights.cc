#include "engine/ops/rnn/quantized_weights.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "tensor/dispatch.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine::rnn {
namespace {

// Products of two 8-bit numbers less their zero points that surely add up to less than 2^31.
constexpr std::int64_t most_terms = std::int64_t{1} << 15;

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

/// As rows of a product: the quotients x / scale, rounded and kept within the 256 steps, and the zero point.
kernels::IntegerRows quantized(std::int64_t rows, kernels::Rows<const float> A, const DynamicRange& range,
                               const kernels::IntegerPanels& panels) {
  const std::int64_t K = panels.K();
  ScratchVector<std::uint8_t> numbers(static_cast<std::size_t>(rows * K));
  const kernels::Quantization<std::uint8_t> by{&range.scale, &range.zero_point, 0};
  kernels::parallel_for(rows, kernels::tuning::quantized_numbers_of_thread / (K + 1) + 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t row = begin; row < end; ++row)
                            kernels::vec_quantize(A.row(row), by, numbers.data() + row * K, K);
                        });
  return {numbers.data(), rows, &range.zero_point, 0, panels};
}

}  // namespace

QuantizedWeights::QuantizedWeights(const Tensor& weights, const Tensor& scale, const Tensor& zero_point,
                                   std::int64_t direction, const kernels::GatePanels<float>& order)
    : K_(weights.dim(1)), scale_(Tensor::zeros(DType::float32, {order.width()})) {
  const std::int64_t N = weights.dim(2);
  const std::int64_t step = scale.rank() == 2 ? 1 : 0;  // by column
  const std::int64_t first = step == 1 ? direction * N : direction;
  const std::vector<std::int64_t> columns = columns_in_panel_order(order);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] >= 0) scale_.mutable_data<float>()[i] = scale.data<float>()[first + columns[i] * step];
  }
  dispatch(TypeList<std::int8_t, std::uint8_t>{}, weights.dtype(), [&]<typename T>() {
    const T* from = weights.data<T>() + direction * K_ * N;
    for (std::int64_t k = 0; N > 0 && k < K_; k += most_terms)
      parts_.emplace_back(from + k * N, std::min(most_terms, K_ - k), N, columns,
                          zero_point.data<T>() + first, step);
  });
}

void QuantizedWeights::add_product(std::int64_t rows, kernels::Rows<const float> A, const DynamicRange& range,
                                   kernels::Rows<float> to) const {
  if (rows == 0) return;
  if (parts_.size() == 1) return add_part(rows, A, range, to);
  const std::int64_t width = scale_.size(), count = rows * width;
  ScratchVector<std::int64_t> totals(static_cast<std::size_t>(count), 0);
  ScratchVector<std::int32_t> sums(totals.size());
  for (const kernels::IntegerPanels& part : parts_) {
    kernels::multiply_integers(quantized(rows, A, range, part), 0, rows, part, 0, part.panels(), sums.data(),
                               width);
    std::ranges::transform(totals, sums, totals.begin(), std::plus<>());
    A.data += part.K();
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t column = i % width;
    to.row(i / width)[column] +=
        range.scale * scale_.data<float>()[column] * static_cast<float>(totals[static_cast<std::size_t>(i)]);
  }
}

void QuantizedWeights::add_part(std::int64_t rows, kernels::Rows<const float> A, const DynamicRange& range,
                                kernels::Rows<float> to) const {
  const kernels::IntegerPanels& panels = parts_.front();
  const kernels::IntegerRows a = quantized(rows, A, range, panels);
  const float* scale = scale_.data<float>();
  constexpr std::int64_t strip = 3, height = 32;  // panels and rows at a time
  constexpr std::int64_t width = strip * kernels::IntegerPanels::column_count;
  const std::int64_t strips = (panels.panels() + strip - 1) / strip;
  const std::int64_t grain = kernels::tuning::quantized_operations_of_thread / (rows * (K_ + 16) * width) + 1;
  kernels::parallel_for(strips, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i * strip, last = std::min(first + strip, panels.panels());
      const std::int64_t column = first * kernels::IntegerPanels::column_count;
      const std::int64_t columns = std::min(width, scale_.size() - column);
      std::array<std::int32_t, width * height> sums;
      for (std::int64_t row = 0; row < rows; row += height) {
        const std::int64_t some = std::min(height, rows - row);
        kernels::multiply_integers(a, row, some, panels, first, last, sums.data(), width);
        for (std::int64_t r = 0; r < some; ++r) {
          kernels::add_scaled(sums.data() + r * width, range.scale, scale + column, columns,
                              to.row(row + r) + column);
        }
      }
    }
  });
}

}  // namespace grurun::engine::rnn
