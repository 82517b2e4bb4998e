// QLinearGlobalAveragePool (com.microsoft 1), of 8-bit integers:
//
//   Y = quantize(mean(dequantize(X))) of each plane, as QLinearAdd has them (qlinear.op.cc)
//
// X [N, C, D1...Dn], Y [N, C, 1...1]; with channels_last X [N, D1...Dn, C], Y [N, 1...1, C]. Each bit is what
// DequantizeLinear, GlobalAveragePool and QuantizeLinear give one after the other. The sum of the integers
// tells it, but where the roundings on that way might decide: then they are made.
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_byte_sums.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/microsoft/quantized_input.h"
#include "engine/ops/quantization/saturate.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

/// The mean of n numbers.
template <typename T>
class QuantizedMean {
 public:
  QuantizedMean(RunContext& run, std::int64_t n)
      : n_(n), from_(quantization_of<T>(run, 1)), to_(quantization_of<T>(run, 3)) {}

  /// Of numbers that add up to sum; nullopt where that alone does not tell it.
  std::optional<T> of_sum(std::int64_t sum) const {
    const double scale = *from_.scales, y_scale = *to_.scales;
    const std::int64_t centred = sum - n_ * (from_.zero_points == nullptr ? 0 : *from_.zero_points);
    const double quotient = scale * static_cast<double>(centred) / static_cast<double>(n_) / y_scale;
    // Of a number that is dequantized, of the mean and of the quotient at most 2^-24 is lost, and the sum in
    // double loses less, of so many.
    const double lost = 0x1p-22 * (256 * std::fabs(scale / y_scale) + std::fabs(quotient));
    const bool usual = n_ <= most_summed && std::fabs(scale) > 0x1p-100 && std::fabs(scale) < 0x1p+100;
    if (!usual || !(std::fabs(quotient - std::nearbyint(quotient)) + lost < 0.5)) return std::nullopt;
    return quantized_integer<T>(quotient, to_.zero_points == nullptr ? T(0) : *to_.zero_points);
  }

  /// Of numbers `step` apart.
  T of_numbers(const T* x, std::int64_t step) const {
    ScratchVector<T> together(static_cast<std::size_t>(step == 1 ? 0 : n_));
    for (std::size_t i = 0; i < together.size(); ++i) together[i] = x[static_cast<std::int64_t>(i) * step];
    ScratchVector<float> values(static_cast<std::size_t>(n_));
    kernels::vec_dequantize(step == 1 ? x : together.data(), from_, values.data(), n_);
    const double sum = kernels::sum_in_double(kernels::SumOf::values, values.data(), n_);
    const auto mean = static_cast<float>(sum / static_cast<double>(n_));
    T y;
    kernels::vec_quantize(&mean, to_, &y, 1);
    return y;
  }

  bool may_sum() const { return n_ <= most_summed; }

 private:
  static constexpr std::int64_t most_summed = std::int64_t{1} << 20;

  std::int64_t n_;
  kernels::Quantization<T> from_, to_;
};

template <typename T>
void average_planes(const QuantizedMean<T>& mean, const T* x, std::int64_t planes, std::int64_t size, T* y) {
  kernels::parallel_for(planes, 1 + 65536 / size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* plane = x + i * size;
      const auto found = mean.of_sum(kernels::sum_bytes(plane, size));
      y[i] = found ? *found : mean.of_numbers(plane, 1);
    }
  });
}

/// x [batch, size, channels]
template <typename T>
void average_columns(const QuantizedMean<T>& mean, const T* x, std::int64_t batch, std::int64_t size,
                     std::int64_t channels, T* y) {
  constexpr std::int64_t block = 256;  // channels
  const std::int64_t blocks = (channels + block - 1) / block;
  kernels::parallel_for(batch * blocks, 1 + 256 / size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % blocks * block, n = std::min(block, channels - first);
      const T* columns = x + i / blocks * size * channels + first;
      T* to = y + i / blocks * channels + first;
      std::array<std::int32_t, block> sums{};
      if (mean.may_sum()) kernels::add_byte_rows(columns, size, channels, sums.data(), n);
      for (std::int64_t c = 0; c < n; ++c) {
        const auto found = mean.of_sum(sums[static_cast<std::size_t>(c)]);
        to[c] = found ? *found : mean.of_numbers(columns + c, channels);
      }
    }
  });
}

template <typename T>
void average_quantized(RunContext& run, bool channels_last) {
  const Tensor& x = run.tensor(0);
  if (x.rank() < 2) refuse();
  const std::size_t first = channels_last ? 1 : 2, last = x.rank() - (channels_last ? 1 : 0);
  Shape shape = x.shape();
  for (std::size_t d = first; d < last; ++d) shape[d] = 1;
  const std::int64_t size = x.shape().count(first, last);
  if (size == 0) refuse();
  const QuantizedMean<T> mean(run, size);
  T* y = run.output(0, dtype_of<T>, shape).template mutable_data<T>();
  if (channels_last) {
    average_columns(mean, x.data<T>(), x.dim(0), size, x.dim(x.rank() - 1), y);
  } else {
    average_planes(mean, x.data<T>(), x.shape().count(0, 2), size, y);
  }
}

RunFunction prepare_qlinear_global_average_pool(PrepareContext& node) {
  return [channels_last = node.int_attribute("channels_last", 0) != 0](RunContext& run) {
    dispatch(EightBits{}, run.tensor(0).dtype(),
             [&]<typename T>() { average_quantized<T>(run, channels_last); });
  };
}

}  // namespace

std::vector<OpRow> op_rows_qlinear_global_average_pool() {
  return {{"com.microsoft", "QLinearGlobalAveragePool", {1}, prepare_qlinear_global_average_pool}};
}

}  // namespace grurun::engine
