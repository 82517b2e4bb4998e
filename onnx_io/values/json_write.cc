// Values in JSON; docs/file-formats.md describes the layout.
#include <fmt/ranges.h>

#include <set>

#include "onnx_io/utf8.h"
#include "onnx_io/values/json_elements.h"
#include "onnx_io/values/value_formats.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

void append_value(const Value& value, std::string* out);

void append_tensor(const Tensor& tensor, std::string* out) {
  *out += fmt::format("{{\"dtype\": \"{}\", \"shape\": [{}], \"data\": [", dtype_name(tensor.dtype()),
                      fmt::join(tensor.shape().dims(), ", "));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    if (i > 0) *out += ", ";
    append_json_element(tensor, i, out);
  }
  *out += "]}";
}

void append_items(const std::vector<Value>& items, std::string* out) {
  *out += '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) *out += ", ";
    append_value(items[i], out);
  }
  *out += ']';
}

void append_element_type(const ValueType& type, std::string* out) {
  if (type.kind != ValueType::Kind::unknown) *out += ", \"element\": " + json_string(type.to_string());
}

void append_value(const Value& value, std::string* out) {
  if (value.is_tensor()) {
    append_tensor(value.tensor(), out);
    return;
  }
  if (value.empty()) fail_usage("it holds nothing that could be written");
  if (value.is_sequence()) {
    *out += "{\"sequence\": ";
    append_items(value.sequence().items, out);
    append_element_type(value.sequence().element, out);
  } else if (value.is_optional()) {
    *out += "{\"optional\": ";
    if (value.optional().item) {
      append_value(*value.optional().item, out);
    } else {
      *out += "null";
    }
    append_element_type(value.optional().element, out);
  } else {
    *out += "{\"keys\": ";
    append_tensor(value.map().keys, out);
    *out += ", \"values\": ";
    append_items(value.map().values, out);
    append_element_type(value.map().value_type, out);
  }
  *out += '}';
}

}  // namespace

std::string json_content(const std::vector<NamedValue>& values) {
  std::string out = "{";
  std::set<std::string> names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string name = values[i].name.empty() ? fmt::format("arr_{}", i) : values[i].name;
    if (!decode_utf8(name)) fail_unsupported("a name that is no UTF-8 cannot be a key of JSON");
    if (!names.insert(name).second) fail_usage("two values are named '{}'; JSON needs different names", name);
    out += i > 0 ? ",\n  " : "\n  ";
    out += json_string(name) + ": ";
    with_context([&] { return fmt::format("'{}'", name); }, [&] { append_value(values[i].value, &out); });
  }
  return out + "\n}\n";
}

}  // namespace grurun::onnx_io
