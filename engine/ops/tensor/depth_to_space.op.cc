// DepthToSpace (ai.onnx 1, 11, 13, 28) and SpaceToDepth (ai.onnx 1, 13, 28), with b = blocksize.
//
// DepthToSpace, mode DCR (the default): [N, C, H, W] seen as [N, b, b, C/b^2, H, W], axes put in order 0, 3,
// 4, 1, 5, 2, seen as [N, C/b^2, H*b, W*b]. Mode CRD (since 11): seen as [N, C/b^2, b, b, H, W], order 0, 1,
// 4, 2, 5, 3. SpaceToDepth, mode DCR: [N, C, H, W] seen as [N, C, H/b, b, W/b, b], order 0, 3, 5, 1, 2, 4,
// seen as [N, C*b^2, H/b, W/b]. Mode CRD (since 28): order 0, 1, 3, 5, 2, 4.
#include <array>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

Tensor permuted(const Tensor& input, const Shape& seen, const std::array<std::size_t, 6>& order) {
  const ScratchVector<std::int64_t> strides = row_major_strides(seen);
  Shape shape;
  ScratchVector<std::int64_t> from;
  for (const std::size_t axis : order) {
    shape.push_back(seen[axis]);
    from.push_back(strides[axis]);
  }
  return strided_copy(input, 0, shape, from);
}

std::int64_t blocksize(PrepareContext& node) {
  const std::int64_t b = node.int_attribute("blocksize");
  if (b < 1 || b > 65536) refuse();
  return b;
}

bool is_dcr(PrepareContext& node, int since) {
  const std::string mode = node.since_version() >= since ? node.string_attribute("mode", "DCR") : "DCR";
  return mode == "DCR";
}

void require_image(const Tensor& input) {
  if (input.rank() != 4) refuse();
}

RunFunction prepare_depth_to_space(PrepareContext& node) {
  const std::int64_t b = blocksize(node);
  const bool dcr = is_dcr(node, 11);
  return [b, dcr](RunContext& run) {
    const Tensor& input = run.tensor(0);
    require_image(input);
    const std::int64_t n = input.dim(0), c = input.dim(1), h = input.dim(2), w = input.dim(3);
    if (c % (b * b) != 0) refuse();
    const std::int64_t depth = c / (b * b);
    const Tensor out = dcr ? permuted(input, Shape{n, b, b, depth, h, w}, {0, 3, 4, 1, 5, 2})
                           : permuted(input, Shape{n, depth, b, b, h, w}, {0, 1, 4, 2, 5, 3});
    run.set_output(0, out.reshaped(Shape{n, depth, checked_mul(h, b), checked_mul(w, b)}));
  };
}

RunFunction prepare_space_to_depth(PrepareContext& node) {
  const std::int64_t b = blocksize(node);
  const bool dcr = is_dcr(node, 28);
  return [b, dcr](RunContext& run) {
    const Tensor& input = run.tensor(0);
    require_image(input);
    const std::int64_t n = input.dim(0), c = input.dim(1), h = input.dim(2), w = input.dim(3);
    if (h % b != 0 || w % b != 0) refuse();
    const Shape seen{n, c, h / b, b, w / b, b};
    const Tensor out =
        dcr ? permuted(input, seen, {0, 3, 5, 1, 2, 4}) : permuted(input, seen, {0, 1, 3, 5, 2, 4});
    run.set_output(0, out.reshaped(Shape{n, checked_mul(c, b * b), h / b, w / b}));
  };
}

}  // namespace

std::vector<OpRow> op_rows_depth_to_space() {
  return {{"", "DepthToSpace", {1, 11, 13, 28}, prepare_depth_to_space},
          {"", "SpaceToDepth", {1, 13, 28}, prepare_space_to_depth}};
}

}  // namespace grurun::engine
