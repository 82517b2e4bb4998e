// Indices of elements and slices: those that are known lie within the axis that they are of.
#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

void require_index(std::int64_t index, const Size& length, std::int64_t axis) {
  if (!length || (index >= -*length && index < *length)) return;
  fail_invalid("indices holds {}, but axis {} has length {}", index, axis, *length);
}

// The last axis of indices holds tuples, of an index for each axis of data behind the first batch_dims.
void require_tuples(const NodeFacts& facts, int batch_dims) {
  const SymbolicShape *data = facts.shape(0), *shape = facts.shape(1);
  const auto indices = integers_in(facts, 1);
  if (data == nullptr || shape == nullptr || !indices) return;
  const auto depth = static_cast<std::size_t>(size_of(shape, rank_of(*shape) - 1).value_or(0));
  for (std::size_t i = 0; i < indices->size(); ++i) {
    const int axis = batch_dims + static_cast<int>(i % depth);
    require_index((*indices)[i], size_of(data, axis), axis);
  }
}

}  // namespace

// Beside axis, indices have no more places than data.
void check_indexed(const NodeFacts& facts) {
  const SymbolicShape *data = facts.shape(0), *indices = facts.shape(1);
  if (data == nullptr || indices == nullptr) return;
  const std::int64_t stated = facts.int_attribute("axis", 0);
  const int axis = static_cast<int>(stated < 0 ? stated + rank_of(*data) : stated);
  for (int d = 0; d < rank_of(*data); ++d) {
    const Size have = size_of(indices, d), most = size_of(data, d);
    if (d != axis && have && most && *have > *most)
      fail_invalid("indices is {}: it reaches beyond data {} on axis {}", to_string(*indices),
                   to_string(*data), d);
  }
}

void check_gathered_tuples(const NodeFacts& facts) {
  const std::int64_t batch_dims = facts.int_attribute("batch_dims", 0);
  if (batch_dims < 0) fail_invalid("attribute batch_dims is {}, but must not be negative", batch_dims);
  const SymbolicShape *data = facts.shape(0), *indices = facts.shape(1);
  for (const std::size_t i : {0, 1}) {
    const SymbolicShape* shape = facts.shape(i);
    if (shape != nullptr && batch_dims >= rank_of(*shape))
      fail_invalid("attribute batch_dims is {}, but must be less than the rank of {}, which is {}",
                   batch_dims, input_name(facts, i), rank_of(*shape));
  }
  const int before = static_cast<int>(batch_dims);
  for (int d = 0; d < before; ++d) {
    const Size a = size_of(data, d), b = size_of(indices, d);
    if (a && b && *a != *b)
      fail_invalid("data {} and indices {} differ on batch axis {}", to_string(*data), to_string(*indices),
                   d);
  }
  const Size depth = indices == nullptr ? std::nullopt : size_of(indices, rank_of(*indices) - 1);
  if (depth && (*depth < 1 || (data != nullptr && *depth > rank_of(*data) - before)))
    fail_invalid("the last size of indices is {}, but must lie in [1, {}]: data is {}", *depth,
                 data == nullptr ? "r" : std::to_string(rank_of(*data) - before),
                 data == nullptr ? "of rank r" : to_string(*data));
  require_tuples(facts, before);
}

// updates [indices.shape[:-1], data.shape[indices.shape[-1]:]]
void check_scattered_tuples(const NodeFacts& facts) {
  const SymbolicShape *data = facts.shape(0), *indices = facts.shape(1);
  if (data == nullptr || indices == nullptr) return;
  const int last = rank_of(*indices) - 1;
  const Size depth = size_of(indices, last);
  if (!depth) return;
  if (*depth > rank_of(*data))
    fail_invalid("indices is {}, but data {} has no {} axes", to_string(*indices), to_string(*data), *depth);
  Sizes wanted;
  for (int axis = 0; axis < last; ++axis) wanted.push_back(size_of(indices, axis));
  for (int axis = static_cast<int>(*depth); axis < rank_of(*data); ++axis)
    wanted.push_back(size_of(data, axis));
  require_sizes("updates", facts.shape(2), wanted, "indices.shape[:-1] and the axes that are not indexed");
  require_tuples(facts, 0);
}

// update stands on axis from write_indices on, where it does not begin again at 0.
void check_cache_update(const NodeFacts& facts) {
  const SymbolicShape *cache = facts.shape(0), *update = facts.shape(1);
  if (cache == nullptr) return;
  const std::int64_t stated = facts.int_attribute("axis", -2);
  const int axis = static_cast<int>(stated < 0 ? stated + rank_of(*cache) : stated);
  if (axis == 0) fail_invalid("axis is {}, which is the axis of the batch", stated);
  for (int d = 0; update != nullptr && d < rank_of(*cache); ++d) {
    const Size have = size_of(update, d), room = size_of(cache, d);
    if (have && room && (d == axis ? *have > *room : *have != *room))
      fail_invalid("update {} does not fit into past_cache {} along axis {}", to_string(*update),
                   to_string(*cache), axis);
  }
  const onnx_io::Attribute* mode = facts.attribute("mode");
  const bool is_circular = mode != nullptr && mode->s == "circular";
  const auto starts = integers_in(facts, 2);
  const Size steps = size_of(update, axis), length = size_of(cache, axis);
  if (!starts || !steps || !length) return;
  for (const std::int64_t start : *starts)
    if (start < 0 || (!is_circular && start > *length - *steps))
      fail_invalid("write_indices holds {}, but {} steps must fit into {}", start, *steps, *length);
}

}  // namespace grurun::opset
