#include "onnx_io/values/map_keys.h"

#include <algorithm>
#include <string>
#include <vector>

namespace grurun::onnx_io {

namespace {

using KeyTypes = Join<Integers, TypeList<std::string>>;

template <typename Key>
void require_distinct_in(const Tensor& keys) {
  const auto given = keys.span<Key>();
  std::vector<Key> sorted(given.begin(), given.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) fail_invalid("the map has the key '{}' twice; give each key one value", *twice);
}

}  // namespace

void require_key_type(DType dtype) {
  if (!KeyTypes::set.contains(dtype)) fail_invalid("the keys of a map cannot be {}", dtype_name(dtype));
}

void require_distinct_keys(const Tensor& keys) {
  require_key_type(keys.dtype());
  dispatch(KeyTypes{}, keys.dtype(), [&]<typename Key>() { require_distinct_in<Key>(keys); });
}

}  // namespace grurun::onnx_io
