#include "engine/ops/rnn/quantized_weights.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/tuning.h"
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

void quantize(kernels::Rows<const float> A, const DynamicRange& range, const kernels::IntegerPanels& panels,
              kernels::IntegerRows& to) {
  kernels::parallel_for(to.rows(), kernels::tuning::quantized_numbers_of_thread / (panels.K() + 1) + 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t row = begin; row < end; ++row)
                            to.quantize(row, A.row(row), range.scale, range.zero_point, panels);
                        });
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

std::int64_t QuantizedWeights::bytes_of(std::int64_t rows) const {
  // The first part is the longest one.
  return parts_.empty() ? 0 : kernels::IntegerRows::bytes_of(rows, parts_.front());
}

void QuantizedWeights::multiply(const Product& p) const {
  if (p.rows == 0) return;
  if (parts_.size() != 1) return multiply_long(p);
  const kernels::IntegerPanels& panels = parts_.front();
  kernels::IntegerRows a(p.rows, panels, p.memory);
  quantize(p.A, p.range, panels, a);
  constexpr std::int64_t strip = 3;  // panels that stay in the first cache
  constexpr std::int64_t width = strip * kernels::IntegerPanels::column_count;
  const std::int64_t strips = (panels.panels() + strip - 1) / strip;
  const std::int64_t grain =
      kernels::tuning::quantized_operations_of_thread / (p.rows * (K_ + 16) * width) + 1;
  kernels::parallel_for(strips, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t column = begin * width;
    kernels::multiply_scaled(a, p.rows, panels, begin * strip, std::min(end * strip, panels.panels()),
                             {.factor = p.range.scale,
                              .scale = scale_.data<float>(),
                              .start = p.start.data == nullptr ? nullptr : p.start.data + column,
                              .start_ld = p.start.ld,
                              .y = p.to.data + column,
                              .ld = p.to.ld});
  });
}

/// Of more terms than 32 bits hold for sure, or of none.
void QuantizedWeights::multiply_long(const Product& p) const {
  const std::int64_t width = scale_.size(), count = p.rows * width;
  ScratchVector<std::int64_t> totals(static_cast<std::size_t>(count), 0);
  ScratchVector<std::int32_t> sums(totals.size());
  kernels::Rows<const float> A = p.A;
  for (const kernels::IntegerPanels& part : parts_) {
    kernels::IntegerRows a(p.rows, part, p.memory);
    quantize(A, p.range, part, a);
    kernels::multiply_integers(a, 0, p.rows, part, 0, part.panels(), sums.data(), width);
    std::ranges::transform(totals, sums, totals.begin(), std::plus<>());
    A.data += part.K();
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = i / width, column = i % width;
    const float start = p.start.data == nullptr ? 0.0f : p.start.row(row)[column];
    p.to.row(row)[column] = start + p.range.scale * scale_.data<float>()[column] *
                                        static_cast<float>(totals[static_cast<std::size_t>(i)]);
  }
}

}  // namespace grurun::engine::rnn
