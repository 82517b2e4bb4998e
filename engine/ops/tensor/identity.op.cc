// Identity: output = input; a tensor, and from version 14 and 16 on a sequence or an optional.
#include <vector>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

RunFunction prepare_identity(PrepareContext&) {
  return [](RunContext& run) { run.set_output(0, run.input(0)); };
}

}  // namespace

std::vector<OpRow> op_rows_identity() {
  return {{"", "Identity", {1, 13, 14, 16, 19, 21, 23, 24, 25}, prepare_identity}};
}

}  // namespace grurun::engine
