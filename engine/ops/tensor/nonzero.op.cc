// NonZero (ai.onnx 9, 13).
//
// The indices of the elements that are not zero, in row-major order: int64 [rank, count]; [0, 0] or [0, 1]
// for a scalar.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/index_loop.h"
#include "engine/ops/shared/strided.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

// Compared as stored: NaN is not zero, negative zero is.
template <typename T>
bool is_zero(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.empty();
  } else if constexpr (std::is_same_v<T, bool>) {
    return !value;
  } else {
    return static_cast<ComputeType<T>>(value) == ComputeType<T>(0);
  }
}

RunFunction prepare_nonzero(PrepareContext&) {
  return [](RunContext& run) {
    const Tensor& input = run.tensor(0);
    ScratchVector<ScratchVector<std::int64_t>> found(input.rank());
    std::int64_t count = 0;
    dispatch(Join<Numbers, Complexes, TypeList<bool, std::string>>{}, input.dtype(), [&]<typename T>() {
      const T* element = input.data<T>();
      for_each_index<0>(input.shape(), {}, [&](const auto& index, const auto&) {
        if (is_zero(*element++)) return;
        ++count;
        for (std::size_t d = 0; d < index.size(); ++d) found[d].push_back(index[d]);
      });
    });
    Tensor& out = run.output(0, DType::int64, Shape{static_cast<std::int64_t>(input.rank()), count});
    std::int64_t* to = out.mutable_data<std::int64_t>();
    for (const auto& axis : found) to = std::copy(axis.begin(), axis.end(), to);
  };
}

}  // namespace

std::vector<OpRow> op_rows_nonzero() {
  return {{"", "NonZero", {9, 13}, prepare_nonzero}};
}

}  // namespace grurun::engine
