#include "engine/graph/constant_folding.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "engine/graph/run_state.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;      // of the inputs
constexpr std::int64_t most_elements = std::int64_t{1} << 24;  // of an output larger than any input

using opset::Folded;
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

/// How many elements output 0 has at most.
std::int64_t bound(Folded folded, const Inputs& inputs) {
  switch (folded) {
    case Folded::never:
    case Folded::constant:
      break;
    case Folded::first:
      return size_of(inputs, 0);
    case Folded::second:
      return size_of(inputs, 1);
    case Folded::all:
      return of_all(inputs);
    case Folded::broadcast:
      return broadcast(inputs);
    case Folded::listed:
      return listed(inputs, 0);
    case Folded::repeated:
      return saturated_product(size_of(inputs, 0), listed(inputs, 1));
    case Folded::each_of_second:
      return saturated_product(size_of(inputs, 0), size_of(inputs, 1));
  }
  return no_bound;
}

}  // namespace

std::optional<Value> folded(Folded bounded_by, const Step& step, const Inputs& inputs) {
  std::int64_t largest = most_elements;
  for (std::size_t i = 0; i < inputs.size(); ++i) largest = std::max(largest, size_of(inputs, i));
  if (bound(bounded_by, inputs) > largest) return std::nullopt;
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
