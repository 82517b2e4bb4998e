// Trilu (ai.onnx 14).
//
// The upper (upper = 1, the default) or lower triangle of each matrix in the last two axes, zero elsewhere;
// the border is k diagonals above the main one (below it when k is negative).
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"

namespace grurun::engine {

namespace {

RunFunction prepare_trilu(PrepareContext& node) {
  const bool upper = node.int_attribute("upper", 1) != 0;
  return [upper](RunContext& run) {
    const Tensor& input = run.tensor(0);
    std::int64_t k = 0;
    if (const Tensor* given = run.optional_tensor(1)) {
      const ScratchVector<std::int64_t> list = integer_list(*given);
      if (list.size() != 1) refuse();
      k = list[0];
    }
    if (input.rank() < 2) refuse();
    const std::int64_t rows = input.dim(input.rank() - 2);
    const std::int64_t columns = input.dim(input.rank() - 1);
    k = std::clamp(k, -rows - 1, columns + 1);
    Tensor out = Tensor::zeros(input.dtype(), input.shape());
    if (out.size() == 0) return run.set_output(0, std::move(out));
    const std::int64_t matrices = input.shape().count(0, input.rank() - 2);
    for (std::int64_t m = 0; m < matrices; ++m) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t at = (m * rows + row) * columns;
        const std::int64_t border = std::clamp<std::int64_t>(upper ? row + k : row + k + 1, 0, columns);
        if (upper) {
          copy_elements(out, at + border, input, at + border, columns - border);
        } else {
          copy_elements(out, at, input, at, border);
        }
      }
    }
    run.set_output(0, std::move(out));
  };
}

}  // namespace

std::vector<OpRow> op_rows_trilu() {
  return {{"", "Trilu", {14}, prepare_trilu}};
}

}  // namespace grurun::engine
