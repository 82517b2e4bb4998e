#include "engine/graph/op_context.h"

namespace grurun::engine {

using onnx_io::Attribute;
using onnx_io::AttributeType;

namespace {

const Attribute& required(const Attribute* found, const PrepareContext& node, const char* name) {
  if (found == nullptr)
    fail_invalid("{}-{} needs the attribute '{}'", node.op_type(), node.since_version(), name);
  return *found;
}

}  // namespace

bool PrepareContext::has_attribute(const char* name) {
  return find(name) != nullptr;
}
void PrepareContext::accept_attribute(const char* name) {
  find(name);
}

std::int64_t PrepareContext::int_attribute(const char* name) {
  return required(attribute(name, AttributeType::int_), *this, name).i;
}

std::int64_t PrepareContext::int_attribute(const char* name, std::int64_t fallback) {
  return optional_int(name).value_or(fallback);
}

bool PrepareContext::flag_attribute(const char* name, bool fallback) {
  const std::int64_t value = int_attribute(name, fallback ? 1 : 0);
  if (value != 0 && value != 1) fail_invalid("attribute {} is {}; it must be 0 or 1", name, value);
  return value == 1;
}

float PrepareContext::float_attribute(const char* name) {
  return required(attribute(name, AttributeType::float_), *this, name).f;
}

float PrepareContext::float_attribute(const char* name, float fallback) {
  return optional_float(name).value_or(fallback);
}

std::string PrepareContext::string_attribute(const char* name) {
  return required(attribute(name, AttributeType::string), *this, name).s;
}

std::string PrepareContext::string_attribute(const char* name, const std::string& fallback) {
  const Attribute* found = attribute(name, AttributeType::string);
  return found ? found->s : fallback;
}

std::vector<std::int64_t> PrepareContext::ints_attribute(const char* name,
                                                         const std::vector<std::int64_t>& fallback) {
  const Attribute* found = attribute(name, AttributeType::ints);
  return found ? found->ints : fallback;
}

std::vector<float> PrepareContext::floats_attribute(const char* name, const std::vector<float>& fallback) {
  const Attribute* found = attribute(name, AttributeType::floats);
  return found ? found->floats : fallback;
}

std::vector<std::string> PrepareContext::strings_attribute(const char* name,
                                                           const std::vector<std::string>& fallback) {
  const Attribute* found = attribute(name, AttributeType::strings);
  return found ? found->strings : fallback;
}

std::optional<Tensor> PrepareContext::tensor_attribute(const char* name) {
  const Attribute* found = attribute(name, AttributeType::tensor);
  if (found == nullptr) return std::nullopt;
  return found->tensors.at(0);
}

std::optional<std::int64_t> PrepareContext::optional_int(const char* name) {
  const Attribute* found = attribute(name, AttributeType::int_);
  if (found == nullptr) return std::nullopt;
  return found->i;
}

std::optional<float> PrepareContext::optional_float(const char* name) {
  const Attribute* found = attribute(name, AttributeType::float_);
  if (found == nullptr) return std::nullopt;
  return found->f;
}

void RunContext::fail_omitted(std::size_t index) {
  fail_invalid("input {} is omitted, but needed here", index);
}

}  // namespace grurun::engine
