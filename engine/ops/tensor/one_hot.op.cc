// OneHot (ai.onnx 9, 11, 28).
//
// output has a new axis of length depth: values[1] where the place on it equals the index, values[0]
// elsewhere. Indices are cast to int64; in [-depth, -1] they count from the end since 11; any other out of
// range gives values[0] all along.
#include <algorithm>
#include <utility>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/strided.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

ScratchVector<std::int64_t> as_int64(const Tensor& tensor) {
  // A number that int64 cannot hold is no place on any axis.
  return dispatch(Numbers{}, tensor.dtype(), [&]<typename T>() {
    ScratchVector<std::int64_t> out;
    for (const T& value : tensor.span<T>()) {
      const auto wide = static_cast<ComputeType<T>>(value);
      if constexpr (std::is_floating_point_v<ComputeType<T>>) {
        const bool fits = wide > ComputeType<T>(-9e18) && wide < ComputeType<T>(9e18);
        out.push_back(fits ? static_cast<std::int64_t>(wide) : INT64_MIN);
      } else {
        const bool fits = std::in_range<std::int64_t>(wide);
        out.push_back(fits ? static_cast<std::int64_t>(wide) : INT64_MIN);
      }
    }
    return out;
  });
}

bool holds_negative(const Tensor& tensor) {
  return dispatch(Numbers{}, tensor.dtype(), [&]<typename T>() {
    return std::ranges::any_of(tensor.span<T>(),
                               [](const T& value) { return static_cast<ComputeType<T>>(value) < 0; });
  });
}

RunFunction prepare_one_hot(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", -1);
  const bool from_end = node.since_version() >= 11;
  return [axis, from_end](RunContext& run) {
    const Tensor& indices = run.tensor(0);
    const Tensor& depth_input = run.tensor(1);
    const Tensor& values = run.tensor(2);
    if (indices.rank() == 0) refuse();
    if (depth_input.size() != 1 || depth_input.rank() > 1) refuse();
    if (values.size() != 2 || values.rank() != 1) refuse();
    const std::int64_t depth = as_int64(depth_input)[0];
    if (depth < 0) refuse();
    if (!from_end && holds_negative(indices)) refuse();
    Shape shape = indices.shape();
    const auto at =
        static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(shape.rank()) + 1));
    shape.insert(at, depth);
    Tensor out = strided_copy(values, 0, shape, ScratchVector<std::int64_t>(shape.rank(), 0));
    const std::int64_t after = indices.shape().count(at, indices.rank());
    const ScratchVector<std::int64_t> places = as_int64(indices);
    for (std::size_t n = 0; n < places.size(); ++n) {
      const std::int64_t place =
          places[n] < 0 && from_end && places[n] >= -depth ? places[n] + depth : places[n];
      if (place < 0 || place >= depth) continue;
      const auto i = static_cast<std::int64_t>(n);
      copy_elements(out, (i / after * depth + place) * after + i % after, values, 1, 1);
    }
    run.set_output(0, std::move(out));
  };
}

}  // namespace

std::vector<OpRow> op_rows_one_hot() {
  return {{"", "OneHot", {9, 11, 28}, prepare_one_hot}};
}

}  // namespace grurun::engine
