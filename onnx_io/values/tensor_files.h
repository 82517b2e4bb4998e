// Values in files: .pb (TensorProto, SequenceProto, OptionalProto, MapProto), .npy, .npz and .json, read and
// written.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/value.h"
#include "tensor/value_type.h"

namespace grurun::onnx_io {

struct NamedValue {
  std::string name;  // empty when the file does not name it
  Value value;
};

/// What the ending of a path says, in capitals or not; none: another ending, or none at all.
enum class FileFormat { none, pb, npy, npz, json };
FileFormat format_of(const std::string& path);

/// Reads one file that holds one value (.pb, .npy) or several (.npz, .json), by its ending. expected tells
/// which message a .pb holds; without it a TensorProto is tried, then SequenceProto, OptionalProto, MapProto.
/// Throws Error(usage) when the file is missing, Error(invalid_model) when its content breaks its format.
std::vector<NamedValue> read_values(const std::string& path, const ValueType* expected = nullptr);

/// The value a .pb file holds; see read_values. The name inside the file is in NamedValue::name.
NamedValue read_pb(const std::string& path, const ValueType* expected = nullptr);

/// The names of a .npz's values, and one of them, so that not all have to be in memory. Throws as read_values
/// does; there must be a value of that name.
std::vector<std::string> npz_names(const std::string& path);
Value read_npz_value(const std::string& path, const std::string& name);

/// Writes a .npz of .npy files: pairs of a name, all different, and a file. Throws Error(usage) where it
/// cannot be written, Error(unsupported) for a name that a .npz cannot hold.
void write_npz_of(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files);

void write_pb(const std::string& path, const std::string& name, const Value& value);
void write_npy(const std::string& path, const Tensor& tensor);

/// Writes all values to one .npz or .json (by the ending); names are kept. npz holds tensors only: anything
/// else throws Error(unsupported) that names the value and says which endings can hold it.
void write_values(const std::string& path, const std::vector<NamedValue>& values);

}  // namespace grurun::onnx_io
