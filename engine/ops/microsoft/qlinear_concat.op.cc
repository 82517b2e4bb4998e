// QLinearConcat (com.microsoft 1), of 8-bit integers:
//
//   Y = quantize(Concat(dequantize(X_0), dequantize(X_1), ...)), as QLinearAdd has them (qlinear.op.cc)
//
// Inputs: Y_scale, Y_zero_point, then X_k [..., n_k, ...], its scale and its zero point for each k. Each bit
// is what DequantizeLinear, Concat and QuantizeLinear give one after the other: a table of 256 for each X_k.
#include <algorithm>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_look_up.h"
#include "engine/ops/microsoft/quantized_input.h"
#include "engine/ops/shared/broadcast.h"
#include "engine/ops/shared/concat.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

/// For numbers of X to those of Y.
template <typename X, typename Y>
void fill_requantizing_table(RunContext& run, std::size_t x_scale_index, std::uint8_t* table) {
  ByteTable<Y> made;
  requantize(all_numbers<X>().data(), quantization_of<X>(run, x_scale_index), quantization_of<Y>(run, 0),
             made.data(), all_bytes, [](float*, std::int64_t) {});
  std::ranges::transform(made, table, [](Y number) { return static_cast<std::uint8_t>(number); });
}

bool changes_nothing(const std::uint8_t* table) {
  for (std::size_t i = 0; i < all_bytes; ++i)
    if (table[i] != i) return false;
  return true;
}

/// Rows of `row` bytes, one after the other, to rows `step` apart.
void look_up_rows(const std::uint8_t* table, const std::uint8_t* from, std::int64_t rows, std::int64_t row,
                  std::uint8_t* to, std::int64_t step) {
  const bool copies = changes_nothing(table);
  kernels::parallel_for(rows * row, elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t r = begin / row, within = begin % row, n = std::min(row - within, end - begin);
      std::uint8_t* const here = to + r * step + within;
      copies ? void(std::copy_n(from + begin, n, here)) : kernels::vec_look_up(table, from + begin, here, n);
      begin += n;
    }
  });
}

void concat_quantized(RunContext& run, std::int64_t axis) {
  constexpr std::size_t first = 2, inputs_of_each = 3;
  if (run.input_count() < first + inputs_of_each || (run.input_count() - first) % inputs_of_each != 0)
    refuse();
  ScratchVector<Tensor> parts;
  for (std::size_t i = first; i < run.input_count(); i += inputs_of_each) parts.push_back(run.tensor(i));
  const auto [shape, at] = joined(parts, axis);
  const DType type = run.tensor(1).dtype();
  auto* to = static_cast<std::uint8_t*>(run.output(0, type, shape).mutable_raw());
  const std::int64_t rows = shape.count(0, at), step = shape.count(at, shape.rank());
  std::size_t scale_index = first + 1;
  for (const Tensor& part : parts) {
    alignas(16) ByteTable<std::uint8_t> table;
    if (!EightBits::set.contains(part.dtype())) refuse();
    dispatch(EightBits{}, part.dtype(), [&]<typename X>() {
      dispatch(EightBits{}, type,
               [&]<typename Y>() { fill_requantizing_table<X, Y>(run, scale_index, table.data()); });
    });
    scale_index += inputs_of_each;
    const std::int64_t row = part.shape().count(at, part.rank());
    look_up_rows(table.data(), static_cast<const std::uint8_t*>(part.raw()), rows, row, to, step);
    to += row;
  }
}

RunFunction prepare_qlinear_concat(PrepareContext& node) {
  return [axis = node.int_attribute("axis")](RunContext& run) { concat_quantized(run, axis); };
}

}  // namespace

std::vector<OpRow> op_rows_qlinear_concat() {
  return {{"com.microsoft", "QLinearConcat", {1}, prepare_qlinear_concat}};
}

}  // namespace grurun::engine
