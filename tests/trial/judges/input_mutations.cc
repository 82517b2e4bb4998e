#include "tests/trial/judges/input_mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace grurun::trial::testing {

namespace {

// The input of the graph at this place, where it is a tensor.
Tensor* any_tensor(std::vector<Value>& inputs, int& at, Draws& draws) {
  if (inputs.empty()) return nullptr;
  at = draws.below(static_cast<int>(inputs.size()));
  Value& value = inputs[static_cast<std::size_t>(at)];
  return value.is_tensor() ? &value.mutable_tensor() : nullptr;
}

Tensor refilled(const Tensor& from, const Shape& shape) {
  Tensor made(from.dtype(), shape);
  const auto count = static_cast<std::size_t>(made.size()), given = static_cast<std::size_t>(from.size());
  if (from.dtype() == DType::string) return made;
  const std::size_t size = dtype_size(from.dtype());
  auto* to = static_cast<char*>(made.mutable_raw());
  if (count > 0) std::memset(to, 0, made.byte_size());
  for (std::size_t i = 0; i < count && given > 0; ++i)
    std::memcpy(to + i * size, static_cast<const char*>(from.raw()) + i % given * size, size);
  return made;
}

}  // namespace

std::string retype_input(std::vector<Value>& inputs, Draws& draws) {
  static constexpr std::array types{DType::float32, DType::float64, DType::int64,   DType::int32,
                                    DType::uint8,   DType::boolean, DType::float16, DType::string};
  int at = 0;
  Tensor* tensor = any_tensor(inputs, at, draws);
  if (tensor == nullptr) return "";
  Tensor made(draws.any_of(types), tensor->shape());
  if (made.dtype() != DType::string) std::memset(made.mutable_raw(), 0, made.byte_size());
  *tensor = std::move(made);
  return fmt::format("input {} of {}", at, dtype_name(tensor->dtype()));
}

// As many of the elements as there are, again and again.

std::string reshape_input(std::vector<Value>& inputs, Draws& draws) {
  int at = 0;
  Tensor* tensor = any_tensor(inputs, at, draws);
  if (tensor == nullptr) return "";
  std::vector<std::int64_t> dims(tensor->shape().begin(), tensor->shape().end());
  const int rank = static_cast<int>(dims.size());
  const auto axis = static_cast<std::size_t>(rank == 0 ? 0 : draws.below(rank));
  switch (draws.below(6)) {
    case 0:
      dims.insert(dims.begin() + draws.below(rank + 1), draws.chance(3) ? 2 : 1);
      break;
    case 1:
      if (rank == 0) return "";
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
      break;
    case 2:
      if (rank == 0) return "";
      dims[axis] = dims[axis] + 1;
      break;
    case 3:
      if (rank == 0 || dims[axis] == 0) return "";
      dims[axis] = dims[axis] - 1;
      break;
    case 4:
      if (rank == 0) return "";
      dims[axis] = 1;
      break;
    default:
      dims.clear();
      break;
  }
  *tensor = refilled(*tensor, Shape(dims));
  return fmt::format("input {} of shape {}", at, tensor->shape().to_string());
}

std::string change_values(std::vector<Value>& inputs, Draws& draws) {
  int at = 0;
  Tensor* tensor = any_tensor(inputs, at, draws);
  if (tensor == nullptr || tensor->size() == 0) return "";
  const auto place =
      static_cast<std::size_t>(draws.below(static_cast<int>(std::min<std::int64_t>(tensor->size(), 64))));
  const bool all = draws.chance(4);
  const auto set = [&](auto value) {
    auto* data = tensor->template mutable_data<decltype(value)>();
    if (all)
      std::fill(data, data + tensor->size(), value);
    else
      data[place] = value;
  };
  const std::int64_t value = draws.number();
  switch (tensor->dtype()) {
    case DType::int64:
      set(value);
      break;
    case DType::int32:
      set(static_cast<std::int32_t>(value));
      break;
    case DType::float32:
      set(draws.chance(2) ? draws.real() : static_cast<float>(value));
      break;
    case DType::uint8:
      set(static_cast<std::uint8_t>(value));
      break;
    case DType::int8:
      set(static_cast<std::int8_t>(value));
      break;
    default:
      return "";
  }
  return fmt::format("input {}[{}] = {}", at, all ? "all" : std::to_string(place), value);
}

}  // namespace grurun::trial::testing
