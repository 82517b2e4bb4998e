// Products of rows that are quantized as they come with 8-bit weights: what DynamicQuantizeLSTM is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/gates/gate_panels.h"
#include "engine/kernels/gates/recurrent.h"
#include "engine/kernels/integer/integer_panels.h"
#include "engine/ops/quantization/dynamic_range.h"
#include "tensor/tensor.h"

namespace grurun::engine::rnn {

/// W or R of one direction, less its zero points, its columns in panel order.
class QuantizedWeights {
 public:
  /// weights [num_directions, K, gates*hidden_size] int8 or uint8; scale and zero_point [num_directions] or
  /// [num_directions, gates*hidden_size]; all shapes must have been checked. `order` says what panel order
  /// is. Throws Error(limit) when memory is refused.
  QuantizedWeights(const Tensor& weights, const Tensor& scale, const Tensor& zero_point,
                   std::int64_t direction, const kernels::GatePanels<float>& order);

  /// Bytes that so many rows take when they are quantized.
  std::int64_t bytes_of(std::int64_t rows) const;

  /// A product's operands and its result, [rows, order.width()], which may overlap nothing else.
  struct Product {
    std::int64_t rows;
    kernels::Rows<const float> A;      // [rows, K]
    DynamicRange range;                // that A is quantized by
    kernels::Rows<const float> start;  // as `to`; ld 0: one row for all; no data: 0
    kernels::Rows<float> to;
    void* memory;  // of bytes_of(rows), at the beginning of a cache line
  };

  /// to = start + q(A) * weights: the products of integers are summed exactly, then scaled. Throws
  /// Error(limit) when memory is refused.
  void multiply(const Product& product) const;

 private:
  void multiply_long(const Product& product) const;

  std::int64_t K_;
  std::vector<kernels::IntegerPanels> parts_;  // of K_, each short enough for sums of 32 bits
  Tensor scale_;                               // float32 [order.width()]
};

struct QuantizedGates {
  QuantizedWeights W, R;
};

}  // namespace grurun::engine::rnn
