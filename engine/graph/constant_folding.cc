#include "engine/graph/constant_folding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "engine/graph/run_state.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;      // of the inputs
constexpr std::int64_t most_elements = std::int64_t{1} << 24;  // of an output larger than any input

using Inputs = std::vector<const Value*>;

const Tensor* tensor_at(const Inputs& inputs, std::size_t i) {
  return i < inputs.size() && inputs[i] != nullptr && inputs[i]->is_tensor() ? &inputs[i]->tensor() : nullptr;
}

/// a * b of counts; beyond int64 its maximum.
std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

std::int64_t size_of(const Inputs& inputs, std::size_t i) {
  const Tensor* tensor = tensor_at(inputs, i);
  return tensor == nullptr ? 0 : tensor->size();
}

constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::max();

/// The product of the sizes that input i lists, those below 1 taken for 1; no_bound where it is no such list.
std::int64_t listed(const Inputs& inputs, std::size_t i) {
  const Tensor* list = tensor_at(inputs, i);
  if (list == nullptr || list->dtype() != DType::int64) return no_bound;
  std::int64_t product = 1;
  for (const std::int64_t size : list->span<std::int64_t>())
    product = saturated_product(product, std::max<std::int64_t>(size, 1));
  return product;
}

std::int64_t of_first(const Inputs& inputs) {
  return size_of(inputs, 0);
}
std::int64_t of_second(const Inputs& inputs) {
  return size_of(inputs, 1);
}
std::int64_t of_all(const Inputs& inputs) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) sum += size_of(inputs, i);
  return sum;
}
std::int64_t broadcast(const Inputs& inputs) {
  std::vector<std::int64_t> sizes;  // from the last axis on
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* tensor = tensor_at(inputs, i);
    for (std::size_t d = 0; tensor != nullptr && d < tensor->rank(); ++d) {
      if (d == sizes.size()) sizes.push_back(1);
      sizes[d] = std::max(sizes[d], tensor->dim(tensor->rank() - 1 - d));
    }
  }
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product = saturated_product(product, size);
  return product;
}
std::int64_t as_listed(const Inputs& inputs) {
  return listed(inputs, 0);
}
std::int64_t as_often_as_listed(const Inputs& inputs) {
  return saturated_product(size_of(inputs, 0), listed(inputs, 1));
}
std::int64_t each_of_second(const Inputs& inputs) {
  return saturated_product(size_of(inputs, 0), size_of(inputs, 1));
}

/// How many elements output 0 of an operator has at most.
struct Foldable {
  std::string_view op_type;
  std::int64_t (*elements)(const Inputs& inputs);
};

// In alphabetical order.
constexpr auto foldable = std::to_array<Foldable>({
    {"Abs", of_first},
    {"Acos", of_first},
    {"Acosh", of_first},
    {"Add", broadcast},
    {"And", broadcast},
    {"Asin", of_first},
    {"Asinh", of_first},
    {"Atan", of_first},
    {"Atanh", of_first},
    {"Cast", of_first},
    {"CastLike", of_first},
    {"Ceil", of_first},
    {"Clip", of_first},
    {"Concat", of_all},
    {"ConstantOfShape", as_listed},
    {"Cos", of_first},
    {"Cosh", of_first},
    {"CumSum", of_first},
    {"DequantizeLinear", of_first},
    {"Div", broadcast},
    {"Equal", broadcast},
    {"Erf", of_first},
    {"Exp", of_first},
    {"Expand", as_often_as_listed},
    {"Flatten", of_first},
    {"Floor", of_first},
    {"Gather", each_of_second},
    {"GatherElements", of_second},
    {"Greater", broadcast},
    {"GreaterOrEqual", broadcast},
    {"Identity", of_first},
    {"Less", broadcast},
    {"LessOrEqual", broadcast},
    {"Log", of_first},
    {"Max", broadcast},
    {"Mean", broadcast},
    {"Min", broadcast},
    {"Mod", broadcast},
    {"Mul", broadcast},
    {"Neg", of_first},
    {"Not", of_first},
    {"Or", broadcast},
    {"Pow", broadcast},
    {"QuantizeLinear", of_first},
    {"Reciprocal", of_first},
    {"ReduceMax", of_first},
    {"ReduceMean", of_first},
    {"ReduceMin", of_first},
    {"ReduceProd", of_first},
    {"ReduceSum", of_first},
    {"Relu", of_first},
    {"Reshape", of_first},
    {"Round", of_first},
    {"ScatterElements", of_first},
    {"ScatterND", of_first},
    {"Shape", of_first},
    {"Sigmoid", of_first},
    {"Sign", of_first},
    {"Sin", of_first},
    {"Sinh", of_first},
    {"Size", of_first},
    {"Slice", of_first},
    {"Sqrt", of_first},
    {"Squeeze", of_first},
    {"Sub", broadcast},
    {"Sum", broadcast},
    {"Tan", of_first},
    {"Tanh", of_first},
    {"Tile", as_often_as_listed},
    {"Transpose", of_first},
    {"Trilu", of_first},
    {"Unsqueeze", of_first},
    {"Where", broadcast},
    {"Xor", broadcast},
});

static_assert(std::ranges::is_sorted(foldable, {}, &Foldable::op_type));

const Foldable* find_foldable(const std::string& op_type) {
  const auto found = std::ranges::lower_bound(foldable, op_type, {}, &Foldable::op_type);
  return found != foldable.end() && found->op_type == op_type ? &*found : nullptr;
}

}  // namespace

bool is_foldable(const std::string& domain, const std::string& op_type) {
  return domain.empty() && find_foldable(op_type) != nullptr;
}

std::optional<Value> folded(const std::string& op_type, const Step& step, const Inputs& inputs) {
  const Foldable* known = find_foldable(op_type);
  std::int64_t largest = most_elements;
  for (std::size_t i = 0; i < inputs.size(); ++i) largest = std::max(largest, size_of(inputs, i));
  if (known == nullptr || known->elements(inputs) > largest) return std::nullopt;
  Plan plan;
  Step alone = step;
  Values frame;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    if (!inputs[i]->is_tensor()) return std::nullopt;
    bytes += inputs[i]->tensor().byte_size();
    alone.inputs[i] = static_cast<int>(frame.size());
    frame.push_back(*inputs[i]);
  }
  if (bytes > most_bytes) return std::nullopt;
  const std::size_t output = frame.size();
  frame.emplace_back();
  alone.outputs = {static_cast<int>(output)};
  alone.last_used.clear();
  plan.steps.push_back(std::move(alone));
  const RunOptions options;
  RunState state{options};
  try {
    run_steps(plan, frame, state, nullptr);
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::move(frame[output]);
}

}  // namespace grurun::engine
