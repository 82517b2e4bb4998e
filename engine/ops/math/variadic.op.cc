// Max, Min, Sum, Mean of one input or more, element by element. Before version 8 all shapes must be the same;
// from 8 on they broadcast. NaN in any input gives NaN. 16-bit floats are summed in float and rounded once.
#include <vector>

#include "engine/graph/refusal.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/ops/math/float_functions.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/elementwise.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

// Of a and b, one may be a single number, the other or both an array.
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return larger(a, b);
  }
  template <typename A, typename B, kernels::Arithmetic T>
  void run(A a, B b, T* y, std::int64_t n) const {
    kernels::vec_max(a, b, y, n);
  }
};
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return smaller(a, b);
  }
  template <typename A, typename B, kernels::Arithmetic T>
  void run(A a, B b, T* y, std::int64_t n) const {
    kernels::vec_min(a, b, y, n);
  }
};
struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
  template <typename A, typename B, kernels::Arithmetic T>
  void run(A a, B b, T* y, std::int64_t n) const {
    kernels::vec_add(a, b, y, n);
  }
};
struct DivideBy {
  double count;
  template <typename T>
  T operator()(T x) const {
    return x / static_cast<T>(count);
  }
};

using WideFloats = TypeList<float, double>;

/// All inputs, checked to be of one type and to have shapes that the version allows.
ScratchVector<Tensor> take_inputs(RunContext& run, bool broadcasts) {
  ScratchVector<Tensor> inputs;
  for (std::size_t i = 0; i < run.input_count(); ++i) {
    inputs.push_back(run.take_tensor(i));
    const Tensor& input = inputs.back();
    if (input.dtype() != inputs.front().dtype()) refuse();
    if (!broadcasts && !(input.shape() == inputs.front().shape())) refuse();
  }
  if (inputs.empty()) refuse();
  return inputs;
}

Tensor fold(const BinaryTable& table, const void* op, ScratchVector<Tensor> inputs) {
  Tensor out = std::move(inputs.front());
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape shape = broadcast_shape(out.shape(), inputs[i].shape());
    out = combine(table, op, std::move(out), std::move(inputs[i]), shape);
  }
  return out;
}

template <typename Op>
RunFunction prepare_extreme(PrepareContext& node) {
  static constexpr BinaryTable table = make_binary_table<Op>(Numbers{});
  return [broadcasts = node.since_version() >= 8](RunContext& run) {
    const Op op;
    run.set_output(0, fold(table, &op, take_inputs(run, broadcasts)));
  };
}

template <bool mean>
RunFunction prepare_sum(PrepareContext& node) {
  static constexpr BinaryTable add = make_binary_table<Sum>(WideFloats{});
  static constexpr UnaryTable divide = make_unary_table<DivideBy>(WideFloats{});
  return [broadcasts = node.since_version() >= 8](RunContext& run) {
    ScratchVector<Tensor> inputs = take_inputs(run, broadcasts);
    const DType dtype = inputs.front().dtype();
    const DType wide = dtype == DType::float64 ? dtype : DType::float32;
    const auto count = static_cast<double>(inputs.size());
    for (Tensor& input : inputs) input = cast_tensor(input, wide);
    const Sum op;
    Tensor out = fold(add, &op, std::move(inputs));
    if (mean && count > 1) {
      const DivideBy by{count};
      divide.at(wide)(&by, out.mutable_raw(), out.mutable_raw(), out.size());
    }
    run.set_output(0, cast_tensor(out, dtype));
  };
}

}  // namespace

std::vector<OpRow> op_rows_variadic() {
  return {{"", "Max", {1, 6, 8, 12, 13}, prepare_extreme<Max>},
          {"", "Min", {1, 6, 8, 12, 13}, prepare_extreme<Min>},
          {"", "Sum", {1, 6, 8, 13}, prepare_sum<false>},
          {"", "Mean", {1, 6, 8, 13}, prepare_sum<true>}};
}

}  // namespace grurun::engine
