#include "onnx_io/values/tensor_files.h"

#include <algorithm>
#include <filesystem>

#include "onnx_io/values/value_formats.h"
#include "tensor/ascii_case.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

void drop_shapes(ValueType* type) {
  type->shape.reset();
  if (!type->element) return;
  ValueType element = *type->element;
  drop_shapes(&element);
  type->element = std::make_shared<const ValueType>(std::move(element));
}

}  // namespace

FileFormat format_of(const std::string& path) {
  const std::size_t dot = path.find_last_of("./");
  if (dot == std::string::npos || path[dot] != '.') return FileFormat::none;
  const std::string ending = ascii_lower(std::string_view(path).substr(dot));
  if (ending == ".pb") return FileFormat::pb;
  if (ending == ".npy") return FileFormat::npy;
  if (ending == ".npz") return FileFormat::npz;
  return ending == ".json" ? FileFormat::json : FileFormat::none;
}

ValueType common_type(const std::vector<Value>& items, const ValueType& fallback, const char* what) {
  if (items.empty()) return fallback;
  ValueType type = items.front().type();
  drop_shapes(&type);
  const std::string name = type.to_string();
  for (const Value& item : items) {
    const std::string other = item.type().to_string();
    if (other != name)
      fail_invalid("{} holds {} and {}; all its items must be of one type", what, name, other);
  }
  return type;
}

std::vector<NamedValue> read_values(const std::string& path, const ValueType* expected) {
  switch (format_of(path)) {
    case FileFormat::pb:
      return {read_pb(path, expected)};
    case FileFormat::npz:
      return with_context([&] { return path; }, [&] { return read_npz(path); });
    case FileFormat::npy: {
      const Bytes file = read_file(path);
      const DType elem = expected != nullptr ? expected->elem : DType::undefined;
      return with_context([&] { return path; },
                          [&] {
                            return std::vector{NamedValue{"", parse_npy(file, elem)}};
                          });
    }
    case FileFormat::json: {
      const Bytes file = read_file(path);
      return with_context([&] { return path; }, [&] { return parse_json(file.text()); });
    }
    case FileFormat::none:
      break;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) fail_usage("{}: no such file", path);
  fail_usage("{}: values are read from .pb, .npy, .npz and .json files", path);
}

NamedValue read_pb(const std::string& path, const ValueType* expected) {
  const Bytes file = read_file(path);
  return with_context([&] { return path; }, [&] { return parse_pb(file, folder_of(path), expected); });
}

void write_pb(const std::string& path, const std::string& name, const Value& value) {
  write_file(path, {pb_content(name, value)});
}

void write_npy(const std::string& path, const Tensor& tensor) {
  const NpyFile file = npy_content(tensor);
  write_file(path, {file.header, file.data()});
}

void write_values(const std::string& path, const std::vector<NamedValue>& values) {
  const FileFormat format = format_of(path);
  if (format == FileFormat::npz) {
    write_npz(path, values);
  } else if (format == FileFormat::json) {
    write_file(path, {json_content(values)});
  } else {
    fail_usage("{}: several values are written to .npz or .json files", path);
  }
}

}  // namespace grurun::onnx_io
