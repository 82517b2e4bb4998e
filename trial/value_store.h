// Values by name that lie in files, and are read one at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/scratch_folder.h"
#include "tensor/value.h"

namespace grurun::trial {

class ValueStore {
 public:
  /// What a .npz, a .json or a folder of .pb and .npy holds, each of these named inside or else by its file.
  /// Only .json is in memory all at once. flag: what messages name before the path. Throws Error(usage) for
  /// two values of one name, and what onnx_io::read_values throws.
  static ValueStore open(const std::string& path, const std::string& flag);

  /// One that is filled by add(), in a folder below `parent` (empty: among temporary files), which is removed
  /// with it.
  static ValueStore make(const std::string& parent = "");

  /// One of a folder that stays: a .pb for each value, which tells its name.
  static ValueStore make_folder(const std::string& folder);

  /// Writes the value to a file; one of a name that is there stays.
  void add(const std::string& name, const Value& value);

  bool has(const std::string& name) const { return entries_.contains(name); }
  Value read(const std::string& name) const;
  std::vector<std::string> names() const;

  /// Values get the names that the map gives for theirs: {"name in the model": "name here"}. Throws
  /// Error(usage) where there is no such value.
  void rename(const std::map<std::string, std::string>& names, const std::string& flag);

  /// Writes all to a .npz: tensors only. Throws what onnx_io::write_values throws.
  void write_npz(const std::string& path) const;

 private:
  struct Entry {
    std::string file;
    std::string member;  // of a .npz
    DType dtype = DType::undefined;
    std::optional<Value> held;  // instead of a file
  };

  std::string folder_;
  std::shared_ptr<onnx_io::ScratchFolder> scratch_;
  bool names_files_ = false;
  std::map<std::string, Entry> entries_;
};

/// "{"name": "other"}" of a file, as --names takes it. Throws Error(usage), Error(invalid_model).
std::map<std::string, std::string> read_name_map(const std::string& path);

}  // namespace grurun::trial
