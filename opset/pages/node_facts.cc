#include "opset/pages/node_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "opset/schema/signature.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"

namespace grurun::opset {

const SymbolicShape* NodeFacts::shape(std::size_t i) const {
  return has_input(i) && inputs_[i].shape ? &*inputs_[i].shape : nullptr;
}

const Tensor* NodeFacts::value(std::size_t i) const {
  return has_input(i) && find_value_ ? find_value_(i) : nullptr;
}

const onnx_io::Attribute* NodeFacts::attribute(const char* name) const {
  const auto is_it = [&](const auto& a) { return a.name == name && a.ref_attr_name.empty(); };
  const auto found = std::ranges::find_if(node_.attributes, is_it);
  return found == node_.attributes.end() ? nullptr : &*found;
}

std::int64_t NodeFacts::int_attribute(const char* name, std::int64_t otherwise) const {
  const onnx_io::Attribute* found = attribute(name);
  return found != nullptr && found->type == onnx_io::AttributeType::int_ ? found->i : otherwise;
}

Size NodeFacts::list_entry(const char* name, int i) const {
  const onnx_io::Attribute* list = attribute(name);
  const auto at = static_cast<std::size_t>(i);
  return list != nullptr && at < list->ints.size() ? Size(list->ints[at]) : std::nullopt;
}

Size size_of(const SymbolicShape* shape, int axis) {
  const bool is_there = shape != nullptr && axis >= 0 && axis < rank_of(*shape);
  return is_there ? (*shape)[static_cast<std::size_t>(axis)].value : std::nullopt;
}

Sizes sizes_of(const SymbolicShape& shape) {
  Sizes sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.value);
  return sizes;
}

std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const Size& size : sizes) text += (text.empty() ? "" : ",") + (size ? std::to_string(*size) : "?");
  return "[" + text + "]";
}

Size count_of(const Sizes& sizes) {
  if (std::ranges::count(sizes, Size(0)) != 0) return 0;  // whatever the others are
  std::int64_t count = 1;
  for (const Size& size : sizes) {
    if (!size || *size < 0 || __builtin_mul_overflow(count, *size, &count)) return std::nullopt;
  }
  return count;
}

bool may_be(const Sizes& sizes, const Sizes& wanted) {
  return std::ranges::equal(
      sizes, wanted, [](const Size& size, const Size& want) { return !size || !want || *size == *want; });
}

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes all = a.size() >= b.size() ? a : b;
  const Sizes& other = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < other.size(); ++i) {
    Size& common = all[all.size() - other.size() + i];
    const Size& size = other[i];
    if (common && size && *common != *size && *common != 1 && *size != 1) return std::nullopt;
    if (common == 1 || (!common && size && *size != 1)) common = size;
  }
  return all;
}

void require_sizes(const char* name, const SymbolicShape* shape, const Sizes& wanted, const char* why) {
  if (shape != nullptr && !may_be(sizes_of(*shape), wanted))
    fail_invalid("{} is {}, but must be {}: {}", name, to_string(*shape), text_of(wanted), why);
}

void require_broadcast(const char* name, const SymbolicShape* from, const Sizes& to) {
  if (from == nullptr) return;
  bool fits = from->size() <= to.size();
  for (std::size_t axis = 0; fits && axis < from->size(); ++axis) {
    const Size size = (*from)[axis].value, against = to[to.size() - from->size() + axis];
    fits = !size || *size == 1 || !against || *size == *against;
  }
  if (!fits) fail_invalid("{} is {}, which does not broadcast to {}", name, to_string(*from), text_of(to));
}

const char* input_name(const NodeFacts& facts, std::size_t i) {
  const Signature* signature = find_signature(facts.op_type(), facts.domain(), facts.since_version());
  if (signature == nullptr || signature->inputs.empty()) return "input";
  return signature->inputs[std::min(i, signature->inputs.size() - 1)].name;
}

std::string input_label(std::string_view name) {
  return name == "input" ? "input" : fmt::format("input {}", name);
}

std::optional<std::vector<std::int64_t>> integers_in(const NodeFacts& facts, std::size_t input) {
  const Tensor* value = facts.value(input);
  const SymbolicShape* shape = facts.shape(input);
  if (value == nullptr && shape != nullptr && count_of(sizes_of(*shape)) == 0)
    return std::vector<std::int64_t>();
  if (value == nullptr) return std::nullopt;
  const auto list = [](auto numbers) { return std::vector<std::int64_t>(numbers.begin(), numbers.end()); };
  if (value->dtype() == DType::int32) return list(value->span<std::int32_t>());
  if (value->dtype() == DType::int64) return list(value->span<std::int64_t>());
  return std::nullopt;
}

std::optional<std::vector<double>> numbers_in(const NodeFacts& facts, std::size_t input) {
  const Tensor* value = facts.value(input);
  const SymbolicShape* shape = facts.shape(input);
  if (value == nullptr && shape != nullptr && count_of(sizes_of(*shape)) == 0) return std::vector<double>();
  using Known = Join<Numbers, Float8s>;
  if (value == nullptr || !Known::set.contains(value->dtype())) return std::nullopt;
  return dispatch(Known{}, value->dtype(), [&]<typename T>() {
    std::vector<double> numbers;
    for (const T number : value->span<T>())
      numbers.push_back(static_cast<double>(static_cast<ComputeType<T>>(number)));
    return numbers;
  });
}

std::optional<std::vector<std::int64_t>> integers_of(const NodeFacts& facts, const char* attribute,
                                                     std::size_t input) {
  const onnx_io::Attribute* stated = facts.attribute(attribute);
  return stated != nullptr ? std::optional(stated->ints) : integers_in(facts, input);
}

Size number_in(const NodeFacts& facts, std::size_t input) {
  const auto numbers = integers_in(facts, input);
  return numbers && numbers->size() == 1 ? Size(numbers->front()) : std::nullopt;
}

}  // namespace grurun::opset
