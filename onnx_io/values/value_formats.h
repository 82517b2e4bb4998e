// What one file format must offer to tensor_files.h; one .cc file for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/bytes.h"
#include "onnx_io/values/tensor_files.h"

namespace grurun::onnx_io {

/// A .pb's content. folder is where external data may lie. See read_values for expected.
NamedValue parse_pb(const Bytes& file, const std::string& folder, const ValueType* expected);

/// The serialized message of a value.
std::string pb_content(const std::string& name, const Value& value);

/// A .npy's content. numpy saves the one-byte types of ml_dtypes without their name ('|V1'): expected then
/// says which is meant, undefined makes it an error.
Tensor parse_npy(const Bytes& file, DType expected = DType::undefined);

/// A .npy file in two pieces, so that elements that can stay where they are need not be copied.
struct NpyFile {
  std::string header;
  std::string converted;      // the elements when they had to be converted, else empty
  std::string_view in_place;  // else the tensor's own memory

  std::string_view data() const { return converted.empty() ? in_place : converted; }
};
NpyFile npy_content(const Tensor& tensor);

std::vector<NamedValue> read_npz(const std::string& path);
void write_npz(const std::string& path, const std::vector<NamedValue>& values);

std::vector<NamedValue> parse_json(std::string_view text);
std::string json_content(const std::vector<NamedValue>& values);

/// The type of the items of a list: the first one's without its shape, or fallback when there is none. Throws
/// Error(invalid_model) when two differ; what ("a sequence") starts the message.
ValueType common_type(const std::vector<Value>& items, const ValueType& fallback, const char* what);

}  // namespace grurun::onnx_io
