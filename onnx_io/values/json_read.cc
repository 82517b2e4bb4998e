// Values in JSON; docs/file-formats.md describes the layout.
#include <algorithm>

#include "onnx_io/values/json_elements.h"
#include "onnx_io/values/map_keys.h"
#include "onnx_io/values/stored_elements.h"
#include "onnx_io/values/typed_fields.h"
#include "onnx_io/values/value_formats.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

using JsonNode = JsonTree::Node;
using Kind = JsonTree::Kind;

// The element type of a list that does not state one: string, bool, int64, or float32 as soon as one number
// is no integer. "NaN" and the infinities are numbers beside numbers, and strings beside strings.
DType guess_dtype(const JsonTree& tree, const JsonNode& data) {
  bool numbers = false;
  bool fractions = false;
  bool booleans = false;
  bool strings = false;
  bool words = false;
  for (const JsonNode* at = &data; at != &data + data.extent; ++at) {
    numbers |= at->kind == Kind::integer || at->kind == Kind::unsigned_integer;
    fractions |= at->kind == Kind::number;
    booleans |= at->kind == Kind::boolean;
    if (at->kind == Kind::null) fail_invalid("null is no element");
    if (at->kind == Kind::object) fail_invalid("an object among elements whose dtype is not given");
    if (at->kind != Kind::string) continue;
    const std::string_view text = tree.text(*at);
    (text == "NaN" || text == "Infinity" || text == "-Infinity" ? words : strings) = true;
  }
  const bool numeric = numbers || fractions;
  if (numeric + booleans + strings > 1) fail_invalid("elements of several types; state their dtype");
  if (booleans && words) fail_invalid("elements of several types; state their dtype");
  if (numeric) return fractions || words ? DType::float32 : DType::int64;
  if (booleans) return DType::boolean;
  return strings || words ? DType::string : DType::float32;
}

Shape nested_shape(const JsonNode& data, DType dtype) {
  Shape shape;
  const JsonNode* at = &data;
  while (!is_json_element(*at, dtype)) {
    if (shape.rank() == max_rank) fail_unsupported("data nested deeper than {}", max_rank);
    shape.push_back(static_cast<std::int64_t>(at->size));
    if (at->size == 0) break;
    at = JsonTree::first(*at);
  }
  return shape;
}

// Walks the nested lists, each of which must have its dimension's size, and stores the elements in order.
void read_nested(const JsonTree& tree, const JsonNode& data, const Shape& shape, std::size_t axis,
                 DType dtype, std::byte** to) {
  if (axis == shape.rank()) {
    if (!is_json_element(data, dtype)) fail_invalid("lists of different depth");
    read_json_element(tree, data, dtype, *to);
    *to += dtype_size(dtype);
    return;
  }
  const bool fits = !is_json_element(data, dtype) && std::cmp_equal(data.size, shape[axis]);
  if (!fits) fail_invalid("lists of different length or depth");
  const JsonNode* at = JsonTree::first(data);
  for (std::uint64_t i = 0; i < data.size; ++i, at = JsonTree::next(at)) {
    read_nested(tree, *at, shape, axis + 1, dtype, to);
  }
}

Shape stated_shape(const JsonNode& node) {
  if (node.kind != Kind::array) fail_invalid("shape must be an array of numbers");
  if (node.size > max_rank)
    fail_unsupported("a shape of {} dimensions; up to {} are held", node.size, max_rank);
  Shape shape;
  const JsonNode* at = JsonTree::first(node);
  for (std::uint64_t i = 0; i < node.size; ++i, at = JsonTree::next(at)) {
    if (at->kind != Kind::unsigned_integer || at->unsigned_integer > INT64_MAX) {
      fail_invalid("shape must hold numbers from 0 to 2^63-1");
    }
    shape.push_back(static_cast<std::int64_t>(at->unsigned_integer));
  }
  return shape;
}

Tensor read_tensor(const JsonTree& tree, const JsonNode& data, DType dtype, const JsonNode* stated) {
  const Shape nested = nested_shape(data, dtype);
  const Shape shape = stated != nullptr ? stated_shape(*stated) : nested;
  const bool flat = nested.rank() == 1 && nested[0] == stored_elements(shape.dims());
  if (nested != shape && !flat) {
    fail_invalid("data of shape {}, but shape says {}", nested.to_string(), shape.to_string());
  }
  // The nodes are there, so their number is; a tensor of that many elements is no surprise.
  Tensor out(dtype, nested);
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  read_nested(tree, data, nested, 0, dtype, &to);
  return out.reshaped(shape);
}

void require_keys(const JsonTree& tree, const JsonNode& object,
                  std::initializer_list<std::string_view> allowed) {
  const JsonNode* at = JsonTree::first(object);
  for (std::uint64_t i = 0; i < object.size; ++i) {
    const std::string_view key = tree.text(*at);
    if (std::ranges::find(allowed, key) == allowed.end())
      fail_invalid("the key \"{}\" has no meaning here", key);
    at = JsonTree::next(JsonTree::next(at));
  }
}

ValueType stated_element(const JsonTree& tree, const JsonNode& object) {
  const JsonNode* const node = tree.find(object, "element");
  if (node == nullptr) return {};
  std::optional<ValueType> type;
  if (node->kind == Kind::string) type = parse_value_type(tree.text(*node));
  if (!type) fail_invalid("element must be a type such as \"tensor(float)\"");
  return *type;
}

Value read_value(const JsonTree& tree, const JsonNode& node);

std::vector<Value> read_items(const JsonTree& tree, const JsonNode& list) {
  if (list.kind != Kind::array)
    fail_invalid("a list of values must be an array, not {}", describe(list.kind));
  std::vector<Value> items;
  const JsonNode* at = JsonTree::first(list);
  for (std::uint64_t i = 0; i < list.size; ++i, at = JsonTree::next(at))
    items.push_back(read_value(tree, *at));
  return items;
}

// An element type that is stated must be that of the items.
ValueType element_type(const JsonTree& tree, const JsonNode& object, const std::vector<Value>& items,
                       const char* what) {
  const ValueType stated = stated_element(tree, object);
  ValueType type = common_type(items, stated, what);
  if (stated.kind != ValueType::Kind::unknown && type.to_string() != stated.to_string()) {
    fail_invalid("{} of {}, but its items are {}", what, stated.to_string(), type.to_string());
  }
  return type;
}

Value read_sequence(const JsonTree& tree, const JsonNode& object, const JsonNode& list) {
  require_keys(tree, object, {"sequence", "element"});
  Sequence sequence;
  sequence.items = read_items(tree, list);
  sequence.element = element_type(tree, object, sequence.items, "a sequence");
  return sequence;
}

Value read_optional(const JsonTree& tree, const JsonNode& object, const JsonNode& held) {
  require_keys(tree, object, {"optional", "element"});
  std::vector<Value> items;
  if (held.kind != Kind::null) items.push_back(read_value(tree, held));
  Optional optional;
  optional.element = element_type(tree, object, items, "an optional");
  if (!items.empty()) optional.item = std::make_shared<const Value>(std::move(items.front()));
  return optional;
}

Value read_map(const JsonTree& tree, const JsonNode& object, const JsonNode& keys) {
  require_keys(tree, object, {"keys", "values", "element"});
  const JsonNode* const values = tree.find(object, "values");
  if (values == nullptr) fail_invalid("a map needs \"values\" beside its \"keys\"");
  Map map;
  map.keys = read_value(tree, keys).take_tensor();
  if (map.keys.rank() != 1) fail_invalid("the keys of a map must be a list");
  require_distinct_keys(map.keys);
  map.values = read_items(tree, *values);
  if (std::cmp_not_equal(map.keys.size(), map.values.size())) {
    fail_invalid("a map of {} keys and {} values", map.keys.size(), map.values.size());
  }
  map.value_type = element_type(tree, object, map.values, "a map");
  return map;
}

Value read_value(const JsonTree& tree, const JsonNode& node) {
  if (node.kind != Kind::object) return read_tensor(tree, node, guess_dtype(tree, node), nullptr);
  if (const JsonNode* list = tree.find(node, "sequence")) return read_sequence(tree, node, *list);
  if (const JsonNode* held = tree.find(node, "optional")) return read_optional(tree, node, *held);
  if (const JsonNode* keys = tree.find(node, "keys")) return read_map(tree, node, *keys);
  const JsonNode* const data = tree.find(node, "data");
  if (data == nullptr) fail_invalid("a value needs \"data\", \"sequence\", \"optional\" or \"keys\"");
  require_keys(tree, node, {"dtype", "shape", "data"});
  const JsonNode* const type = tree.find(node, "dtype");
  DType dtype = DType::undefined;
  if (type == nullptr) {
    dtype = guess_dtype(tree, *data);
  } else if (type->kind == Kind::string) {
    dtype = parse_dtype(tree.text(*type));
    if (dtype == DType::undefined) fail_invalid("\"{}\" is no element type", tree.text(*type));
  } else {
    fail_invalid("dtype must be a string such as \"float\"");
  }
  return read_tensor(tree, *data, dtype, tree.find(node, "shape"));
}

}  // namespace

std::vector<NamedValue> parse_json(std::string_view text) {
  const JsonTree tree = JsonTree::parse(text);
  const JsonNode& root = tree.root();
  if (root.kind != Kind::object) return {{"", read_value(tree, root)}};
  std::vector<NamedValue> values;
  const JsonNode* at = JsonTree::first(root);
  for (std::uint64_t i = 0; i < root.size; ++i) {
    const std::string name(tree.text(*at));
    at = JsonTree::next(at);
    with_context([&] { return fmt::format("\"{}\"", name); },
                 [&] {
                   values.push_back({name, read_value(tree, *at)});
                 });
    at = JsonTree::next(at);
  }
  return values;
}

}  // namespace grurun::onnx_io
