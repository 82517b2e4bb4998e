#include "onnx_io/values/map_keys.h"

#include <algorithm>
#include <string>
#include <vector>

namespace grurun::onnx_io {

namespace {

template <typename Key>
void require_distinct_in(const Tensor& keys) {
  const auto given = keys.span<Key>();
  std::vector<Key> sorted(given.begin(), given.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) fail_invalid("the map has the key '{}' twice; give each key one value", *twice);
}

}  // namespace

void require_distinct_keys(const Tensor& keys) {
  if (keys.dtype() == DType::string) return require_distinct_in<std::string>(keys);
  visit_integer_key(keys.dtype(), [&keys](auto zero) { require_distinct_in<decltype(zero)>(keys); });
}

}  // namespace grurun::onnx_io
