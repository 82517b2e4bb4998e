// Sequences, maps and optionals, as a run has them.
#include <fmt/format.h>

#include <algorithm>

#include "opset/pages/attribute_lists.h"
#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

const Sequence* sequence_at(const NodeFacts& facts, std::size_t i) {
  const Value* value = facts.other(i);
  return value != nullptr && value->is_sequence() ? &value->sequence() : nullptr;
}

void require_position(const NodeFacts& facts, std::size_t input, std::int64_t beyond) {
  const Sequence* sequence = sequence_at(facts, 0);
  const Size position = number_in(facts, input);
  if (sequence == nullptr || !position) return;
  const auto n = static_cast<std::int64_t>(sequence->items.size());
  if (*position < -n || *position >= n + beyond)
    fail_invalid("position is {}, but must lie in [{}, {}] for a sequence of {}", *position, -n,
                 n + beyond - 1, n);
}

bool is_single(const Value& value, std::initializer_list<DType> types) {
  return value.is_tensor() && value.tensor().size() == 1 &&
         std::ranges::find(types, value.tensor().dtype()) != types.end();
}

}  // namespace

void check_position(const NodeFacts& facts) {
  require_position(facts, 1, 0);
}

void check_erased(const NodeFacts& facts) {
  const Sequence* sequence = sequence_at(facts, 0);
  if (sequence != nullptr && sequence->items.empty())
    fail_invalid("SequenceErase cannot erase from an empty sequence");
  require_position(facts, 1, 0);
}

void check_inserted(const NodeFacts& facts) {
  const DType dtype = facts.dtype(1), element = facts.element(0);
  if (dtype != DType::undefined && element != DType::undefined && element != dtype)
    fail_invalid("a tensor of {} cannot go into a sequence of tensors of {}", dtype_name(dtype),
                 dtype_name(element));
  require_position(facts, 2, 1);
}

void check_mapped_lengths(const NodeFacts& facts) {
  const Sequence* first = sequence_at(facts, 0);
  for (std::size_t i = 1; first != nullptr && i < facts.input_count(); ++i) {
    const Sequence* other = sequence_at(facts, i);
    if (other != nullptr && other->items.size() != first->items.size())
      fail_invalid("input {} has {} items, but the first has {}", i, other->items.size(),
                   first->items.size());
  }
}

// Along axis, beside which all agree; or along a new one, and all are alike.
void check_joined_sequence(const NodeFacts& facts) {
  const Sequence* sequence = sequence_at(facts, 0);
  if (sequence == nullptr) return;
  if (sequence->items.empty()) fail_invalid("there is nothing to join: the sequence is empty");
  const bool is_new = facts.int_attribute("new_axis", 0) != 0;
  const Tensor& first = sequence->items.front().tensor();
  const auto rank = static_cast<std::int64_t>(first.rank()) + (is_new ? 1 : 0);
  const std::int64_t axis = facts.int_attribute("axis", 0);
  if (axis < -rank || axis >= rank)
    fail_invalid("axis is {}, but must lie in [{}, {}): the first tensor is {}", axis, -rank, rank,
                 first.shape().to_string());
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  for (const Value& item : sequence->items) {
    const Tensor& tensor = item.tensor();
    bool fits = tensor.rank() == first.rank() && tensor.dtype() == first.dtype();
    for (std::size_t d = 0; fits && d < first.rank(); ++d)
      fits = (!is_new && std::cmp_equal(d, at)) || tensor.dim(d) == first.dim(d);
    if (!fits)
      fail_invalid("{} {} cannot be joined with {} {} along {}axis {}", dtype_name(tensor.dtype()),
                   tensor.shape().to_string(), dtype_name(first.dtype()), first.shape().to_string(),
                   is_new ? "a new " : "", at);
  }
}

void check_held(const NodeFacts& facts) {
  const Value* input = facts.other(0);
  if (input != nullptr && input->is_optional() && input->optional().item == nullptr)
    fail_invalid("OptionalGetElement of an optional without a value");
}

// CastMap: from int64 to a float or a string, with a place for each key where the output is sparse.
void check_cast_map(const NodeFacts& facts) {
  const Value* input = facts.other(0);
  if (input == nullptr || !input->is_map()) return;
  const Map& map = input->map();
  if (map.keys.dtype() != DType::int64)
    fail_invalid("X has {} keys, not int64", dtype_name(map.keys.dtype()));
  for (const Value& value : map.values)
    if (!is_single(value, {DType::float32, DType::string}))
      fail_invalid("X maps to {}, not to one float or string", value.describe());
  const std::int64_t places = facts.int_attribute("max_map", 1);
  for (const std::int64_t key : map.keys.span<std::int64_t>())
    if (string_of(facts.node(), "map_form") == "SPARSE" && (key < 0 || key >= places))
      fail_invalid("key {} has no place in the {} that max_map gives the output", key, places);
}

// DictVectorizer: "All keys in the input dictionary must be present in the index mapping vector."
void check_dictionary(const NodeFacts& facts) {
  const Value* input = facts.other(0);
  if (input == nullptr || !input->is_map()) return;
  const Map& map = input->map();
  const auto& strings = strings_of(facts.node(), "string_vocabulary");
  const auto& numbers = ints_of(facts.node(), "int64_vocabulary");
  const DType wanted = numbers.empty() ? DType::string : DType::int64;
  if (map.keys.dtype() != wanted)
    fail_invalid("X has {} keys, but the vocabulary is of {}", dtype_name(map.keys.dtype()),
                 dtype_name(wanted));
  const auto require = [](const auto& keys, const auto& vocabulary) {
    for (const auto& key : keys)
      if (std::ranges::find(vocabulary, key) == vocabulary.end())
        fail_invalid("key '{}' of X is not in the vocabulary", key);
  };
  if (numbers.empty()) {
    require(map.keys.span<std::string>(), strings);
  } else {
    require(map.keys.span<std::int64_t>(), numbers);
  }
  for (const Value& value : map.values)
    if (!is_single(value, {DType::int64, DType::float32, DType::float64, DType::string}) ||
        value.tensor().dtype() != map.values.front().tensor().dtype())
      fail_invalid("X maps to {}, not to one number or string of one type", value.describe());
}

}  // namespace grurun::opset
