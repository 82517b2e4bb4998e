#include "opset/inference/required_sizes.h"

#include <string>

#include "opset/inference/inferred_input.h"
#include "tensor/error.h"

namespace grurun::opset {

using onnx::TensorShapeProto;

Sizes sizes_of(const TensorShapeProto& shape) {
  Sizes sizes;
  for (int axis = 0; axis < shape.dim_size(); ++axis) sizes.push_back(size_of(&shape, axis));
  return sizes;
}

std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const Size& size : sizes) text += (text.empty() ? "" : ",") + (size ? std::to_string(*size) : "?");
  return "[" + text + "]";
}

void require_sizes(const char* name, const TensorShapeProto* shape, const Sizes& wanted, const char* why) {
  if (shape == nullptr) return;
  bool fits = shape->dim_size() == static_cast<int>(wanted.size());
  for (int axis = 0; fits && axis < shape->dim_size(); ++axis) {
    const Size size = size_of(shape, axis), want = wanted[static_cast<std::size_t>(axis)];
    fits = !size || !want || *size == *want;
  }
  if (!fits) fail_invalid("{} is {}, but must be {}: {}", name, shape_text(*shape), text_of(wanted), why);
}

void require_broadcast(const char* name, const TensorShapeProto* from, const Sizes& to) {
  if (from == nullptr) return;
  const int rank = from->dim_size(), more = static_cast<int>(to.size()) - rank;
  bool fits = more >= 0;
  for (int axis = 0; fits && axis < rank; ++axis) {
    const Size size = size_of(from, axis), against = to[static_cast<std::size_t>(more + axis)];
    fits = !size || *size == 1 || !against || *size == *against;
  }
  if (!fits) fail_invalid("{} is {}, which does not broadcast to {}", name, shape_text(*from), text_of(to));
}

Size count_of(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const Size& size : sizes) {
    if (!size || *size < 0 || __builtin_mul_overflow(count, *size, &count)) return std::nullopt;
  }
  return count;
}

}  // namespace grurun::opset
