// Einsum: output[output term] = sum over all indices that it does not name of the product of inputs[input
// terms]. Operands are joined from left to right, each pair as a stack of matrix products: indices of both
// that are still needed number the stack, indices of both that are not are summed, the others are rows and
// columns. A repeated index within a term takes the diagonal; an extent of 1 broadcasts against another
// operand's. Integers wrap, those below 32 bits are computed in int32; 16-bit floats are computed in float.
#include <algorithm>
#include <span>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/ops/reduction/reduce_kernels.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/matrix_product.h"
#include "engine/ops/shared/reduction.h"
#include "engine/ops/shared/strided.h"
#include "opset/pages/einsum_equation.h"

namespace grurun::engine {

namespace {

using opset::EinsumEquation;
using opset::Label;
using opset::Labels;

using LabelSet = ScratchSet<Label>;
using Extents = ScratchMap<Label, std::int64_t>;

struct Operand {
  Tensor tensor;
  Labels labels;  // distinct, one for each dimension
};

bool contains(const Labels& labels, Label label) {
  return std::ranges::find(labels, label) != labels.end();
}

Extents common_extents(std::span<const Tensor> tensors, std::span<const Labels> labels) {
  Extents extents;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t d = 0; d < labels[i].size(); ++d) {
      const std::int64_t extent = tensors[i].dim(d);
      std::int64_t& common = extents.try_emplace(labels[i][d], extent).first->second;
      if (common == 1) common = extent;
      if (extent != common && extent != 1) refuse();
    }
  }
  return extents;
}

// One dimension for each index: diagonals of repeated ones, none for those that only broadcast.
Operand distinct(const Tensor& tensor, const Labels& labels, const Extents& extents) {
  const ScratchVector<std::int64_t> strides = row_major_strides(tensor.shape());
  Operand out;
  Shape shape;
  ScratchVector<std::int64_t> steps;
  for (std::size_t d = 0; d < labels.size(); ++d) {
    if (tensor.dim(d) == 1 && extents.at(labels[d]) != 1) continue;
    const auto at = std::ranges::find(out.labels, labels[d]);
    if (at != out.labels.end()) {
      steps[static_cast<std::size_t>(at - out.labels.begin())] += strides[d];
      continue;
    }
    out.labels.push_back(labels[d]);
    shape.push_back(tensor.dim(d));
    steps.push_back(strides[d]);
  }
  out.tensor = out.labels.size() == labels.size() ? tensor : strided_copy(tensor, 0, shape, steps);
  return out;
}

Operand sum_out(Operand operand, const LabelSet& needed) {
  ScratchVector<std::int64_t> axes;
  Labels kept;
  for (std::size_t d = 0; d < operand.labels.size(); ++d) {
    if (needed.contains(operand.labels[d])) {
      kept.push_back(operand.labels[d]);
    } else {
      axes.push_back(static_cast<std::int64_t>(d));
    }
  }
  if (axes.empty()) return operand;
  const ReductionShape shape = reduction_shape(operand.tensor.shape(), axes, false);
  Tensor sums(operand.tensor.dtype(), shape.output);
  dispatch(ProductTypes{}, sums.dtype(), [&]<typename T>() {
    reduce(shape, reduce_kernels::Sum<T>{}, operand.tensor.data<T>(), sums.mutable_data<T>());
  });
  return {std::move(sums), std::move(kept)};
}

Tensor permuted(const Operand& operand, const Labels& order) {
  if (operand.labels == order) return operand.tensor;
  const ScratchVector<std::int64_t> strides = row_major_strides(operand.tensor.shape());
  Shape shape;
  ScratchVector<std::int64_t> steps;
  for (const Label label : order) {
    const auto d =
        static_cast<std::size_t>(std::ranges::find(operand.labels, label) - operand.labels.begin());
    shape.push_back(operand.tensor.dim(d));
    steps.push_back(strides[d]);
  }
  return strided_copy(operand.tensor, 0, shape, steps);
}

std::int64_t product_of(const Labels& labels, const Extents& extents, Shape* shape = nullptr) {
  std::int64_t product = 1;
  for (const Label label : labels) {
    product = checked_mul(product, extents.at(label));
    if (shape != nullptr) shape->push_back(extents.at(label));
  }
  return product;
}

Labels joined(std::initializer_list<const Labels*> parts) {
  Labels all;
  for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

// Products too small for the machinery of gemm, element-wise ones above all.
template <typename T>
void multiply_small(std::int64_t count, std::int64_t M, std::int64_t N, std::int64_t K, const T* a,
                    const T* b, T* c) {
  using Sum = reduce_kernels::SumType<T>;
  for (std::int64_t s = 0; s < count; ++s, a += M * K, b += K * N) {
    for (std::int64_t i = 0; i < M; ++i) {
      for (std::int64_t j = 0; j < N; ++j) {
        Sum sum = 0;
        for (std::int64_t k = 0; k < K; ++k) {
          sum =
              wrapping_add(sum, wrapping_mul(static_cast<Sum>(a[i * K + k]), static_cast<Sum>(b[k * N + j])));
        }
        *c++ = static_cast<T>(sum);
      }
    }
  }
}

Operand contract(const Operand& left, const Operand& right, const LabelSet& needed, const Extents& extents) {
  Labels stack, summed, rows, columns;
  for (const Label label : left.labels) {
    const bool shared = contains(right.labels, label);
    (shared ? needed.contains(label) ? stack : summed : rows).push_back(label);
  }
  for (const Label label : right.labels) {
    if (!contains(left.labels, label)) columns.push_back(label);
  }
  const Tensor A = permuted(left, joined({&stack, &rows, &summed}));
  const Tensor B = permuted(right, joined({&stack, &summed, &columns}));
  Shape shape;
  const std::int64_t count = product_of(stack, extents, &shape);
  const std::int64_t M = product_of(rows, extents, &shape);
  const std::int64_t N = product_of(columns, extents, &shape);
  const std::int64_t K = product_of(summed, extents);
  Tensor C(A.dtype(), shape);
  dispatch(ProductTypes{}, A.dtype(), [&]<typename T>() {
    T* c = C.mutable_data<T>();
    if (M <= 8 && N <= 8 && K <= 64) {
      multiply_small(count, M, N, K, A.data<T>(), B.data<T>(), c);
    } else {
      multiply_stacks<T>(count, M, N, K, {A.data<T>(), M * K, K}, {B.data<T>(), K * N, N}, c);
    }
  });
  return {std::move(C), joined({&stack, &rows, &columns})};
}

// The low bits of sums and products depend on nothing above them.
DType computed_as(DType dtype) {
  if (dtype == DType::float16 || dtype == DType::bfloat16) return DType::float32;
  return dtype_size(dtype) < 4 ? DType::int32 : dtype;
}

// True where elements are only moved: one operand, each of whose indices the output names.
bool only_moves(const EinsumEquation& equation, std::size_t operands) {
  return operands == 1 && std::ranges::all_of(equation.inputs[0],
                                              [&](Label label) { return contains(equation.output, label); });
}

// By label the number of the last operand that has it, or beyond all where the output names it.
ScratchMap<Label, std::size_t> last_uses(const EinsumEquation& equation,
                                         const ScratchVector<Operand>& operands) {
  ScratchMap<Label, std::size_t> last;
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (const Label label : operands[i].labels) last[label] = i;
  for (const Label label : equation.output) last[label] = operands.size();
  return last;
}

Tensor einsum(const EinsumEquation& equation, std::span<const Tensor> tensors) {
  const Extents extents = common_extents(tensors, equation.inputs);
  ScratchVector<Operand> operands;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    operands.push_back(distinct(tensors[i], equation.inputs[i], extents));
    if (only_moves(equation, tensors.size())) continue;
    Tensor& tensor = operands.back().tensor;
    tensor = cast_tensor(tensor, computed_as(tensor.dtype()));
  }
  const ScratchMap<Label, std::size_t> last = last_uses(equation, operands);
  Operand result;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    LabelSet later;
    for (const auto& [label, use] : last)
      if (use > i) later.insert(label);
    LabelSet here = later;
    if (i > 0) here.insert(result.labels.begin(), result.labels.end());
    Operand next = sum_out(std::move(operands[i]), here);
    result = i == 0 ? std::move(next) : contract(result, next, later, extents);
    // What the left side alone held and nobody needs any more.
    result = sum_out(std::move(result), later);
  }
  return permuted(result, equation.output);
}

RunFunction prepare_einsum(PrepareContext& node) {
  return [text = node.string_attribute("equation")](RunContext& run) {
    ScratchVector<Tensor> tensors;
    ScratchVector<std::size_t> ranks;
    DType dtype = DType::undefined;
    for (std::size_t i = 0; i < run.input_count(); ++i) {
      const Tensor& tensor = run.tensor(i);
      if (i > 0 && tensor.dtype() != dtype) refuse();
      dtype = tensor.dtype();
      tensors.push_back(tensor);
      ranks.push_back(tensor.rank());
    }
    run.set_output(0, cast_tensor(einsum(opset::parse_einsum(text, ranks), tensors), dtype));
  };
}

}  // namespace

std::vector<OpRow> op_rows_einsum() {
  return {{"", "Einsum", {12, 28}, prepare_einsum}};
}

}  // namespace grurun::engine
