// Expand (ai.onnx 8, 13).
//
// The input broadcast (numpy's rule, both ways) to the shape that the second input states.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

RunFunction prepare_expand(PrepareContext&) {
  return [](RunContext& run) {
    const Tensor& input = run.tensor(0);
    if (run.tensor(1).rank() != 1) refuse();
    const ScratchVector<std::int64_t> wanted = integer_list(run.tensor(1));
    const std::size_t rank = std::max(input.rank(), wanted.size());
    const ScratchVector<std::int64_t> strides = row_major_strides(input.shape());
    Shape shape;
    ScratchVector<std::int64_t> from;
    for (std::size_t d = 0; d < rank; ++d) {
      const bool has_input = d + input.rank() >= rank;
      const bool has_wanted = d + wanted.size() >= rank;
      const std::size_t axis = has_input ? d + input.rank() - rank : 0;
      const std::int64_t have = has_input ? input.dim(axis) : 1;
      const std::int64_t want = has_wanted ? wanted[d + wanted.size() - rank] : 1;
      if (want < 0 || (have != want && have != 1 && want != 1)) refuse();
      shape.push_back(have == 1 ? want : have);
      from.push_back(has_input && have != 1 ? strides[axis] : 0);
    }
    run.set_output(0, strided_copy(input, 0, shape, from));
  };
}

}  // namespace

std::vector<OpRow> op_rows_expand() {
  return {{"", "Expand", {8, 13}, prepare_expand}};
}

}  // namespace grurun::engine
