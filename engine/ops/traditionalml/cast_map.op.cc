// CastMap (ai.onnx.ml 1).
//
// A map of int64 to float or string becomes Y [1, K], in the order of its keys: DENSE holds its K values,
// SPARSE has K = max_map places and each value at that of its key, 0 or "" at the others; a key beyond the
// last place is refused. Values are cast as Cast does it.
#include <algorithm>
#include <numeric>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

DType target_type(const std::string& cast_to) {
  if (cast_to == "TO_FLOAT") return DType::float32;
  if (cast_to == "TO_STRING") return DType::string;
  return DType::int64;
}

void check_types(const Map& map) {
  if (map.keys.dtype() != DType::int64) refuse();
  for (const Value& value : map.values) {
    const DType dtype = value.tensor().dtype();
    if ((dtype != DType::float32 && dtype != DType::string) || value.tensor().size() != 1) refuse();
  }
}

Tensor dense(const Map& map, DType to) {
  const std::span<const std::int64_t> keys = map.keys.span<std::int64_t>();
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return keys[i]; });
  Tensor y(to, Shape{1, static_cast<std::int64_t>(order.size())});
  std::int64_t at = 0;
  for (const std::size_t i : order) copy_elements(y, at++, cast_tensor(map.values[i].tensor(), to), 0, 1);
  return y;
}

Tensor sparse(const Map& map, DType to, std::int64_t places) {
  Tensor y = Tensor::zeros(to, Shape{1, places});
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const std::int64_t key = map.keys.span<std::int64_t>()[i];
    if (key < 0 || key >= places) refuse();
    copy_elements(y, key, cast_tensor(map.values[i].tensor(), to), 0, 1);
  }
  return y;
}

RunFunction prepare_cast_map(PrepareContext& node) {
  const DType to = target_type(node.string_attribute("cast_to", "TO_FLOAT"));
  const std::string form = node.string_attribute("map_form", "DENSE");
  const std::int64_t places = node.int_attribute("max_map", 1);
  return [to, places, is_sparse = form == "SPARSE"](RunContext& run) {
    const Map& map = run.input(0).map();
    check_types(map);
    run.set_output(0, is_sparse ? sparse(map, to, places) : dense(map, to));
  };
}

}  // namespace

std::vector<OpRow> op_rows_cast_map() {
  return {{"ai.onnx.ml", "CastMap", {1}, prepare_cast_map}};
}

}  // namespace grurun::engine
