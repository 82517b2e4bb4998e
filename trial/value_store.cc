#include "trial/value_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "onnx_io/bytes.h"
#include "onnx_io/folder.h"
#include "onnx_io/values/json_tree.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"

namespace grurun::trial {
namespace {

namespace fs = std::filesystem;
using onnx_io::FileFormat;

/// What of a value's name a file's name can hold.
std::string as_file_name(const std::string& name) {
  constexpr std::size_t longest = 100;
  std::string out = name.substr(0, longest);
  std::ranges::replace_if(
      out, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-'; }, '_');
  return out;
}

std::vector<std::string> value_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const onnx_io::FolderEntry& entry : onnx_io::entries_of(folder)) {
    const FileFormat format = onnx_io::format_of(entry.name);
    if (format == FileFormat::pb || format == FileFormat::npy) files.push_back(folder + "/" + entry.name);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

ValueStore ValueStore::open(const std::string& path, const std::string& flag) {
  ValueStore store;
  const auto enter = [&](const std::string& name, Entry entry) {
    if (!store.entries_.emplace(name, std::move(entry)).second)
      fail_usage("{} {}: two values are named '{}'", flag, path, name);
  };
  if (fs::is_directory(path)) {
    for (const std::string& file : value_files(path)) {
      std::string name;
      if (onnx_io::format_of(file) == FileFormat::pb) name = onnx_io::read_pb(file).name;
      enter(name.empty() ? fs::path(file).stem().string() : name, {file, "", DType::undefined, {}});
    }
  } else if (onnx_io::format_of(path) == FileFormat::npz) {
    for (const std::string& name : onnx_io::npz_names(path)) enter(name, {path, name, DType::undefined, {}});
  } else {
    for (onnx_io::NamedValue& read : onnx_io::read_values(path))
      enter(read.name.empty() ? fs::path(path).stem().string() : read.name,
            {"", "", DType::undefined, std::move(read.value)});
  }
  return store;
}

ValueStore ValueStore::make(const std::string& parent) {
  ValueStore store;
  store.scratch_ = std::make_shared<onnx_io::ScratchFolder>(parent);
  store.folder_ = store.scratch_->path();
  return store;
}

ValueStore ValueStore::make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_usage("cannot make folder {}: {}", folder, error.message());
  ValueStore store;
  store.folder_ = folder;
  store.names_files_ = true;
  return store;
}

void ValueStore::add(const std::string& name, const Value& value) {
  if (has(name)) return;
  Entry entry;
  const std::string stem = names_files_ ? fmt::format("{:04}_{}", entries_.size(), as_file_name(name))
                                        : std::to_string(entries_.size());
  const bool as_npy = !names_files_ && value.is_tensor() && value.tensor().dtype() != DType::string;
  entry.file = fmt::format("{}/{}{}", folder_, stem, as_npy ? ".npy" : ".pb");
  if (as_npy) {
    entry.dtype = value.tensor().dtype();
    onnx_io::write_npy(entry.file, value.tensor());
  } else {
    onnx_io::write_pb(entry.file, name, value);
  }
  entries_.emplace(name, std::move(entry));
}

Value ValueStore::read(const std::string& name) const {
  const Entry& entry = entries_.at(name);
  if (entry.held) return *entry.held;
  if (!entry.member.empty()) return onnx_io::read_npz_value(entry.file, entry.member);
  ValueType type;
  type.kind = ValueType::Kind::tensor;
  type.elem = entry.dtype;
  return onnx_io::read_values(entry.file, entry.dtype == DType::undefined ? nullptr : &type).front().value;
}

std::vector<std::string> ValueStore::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

void ValueStore::rename(const std::map<std::string, std::string>& names, const std::string& flag) {
  std::map<std::string, Entry> renamed;
  for (const auto& [name, here] : names) {
    const auto found = entries_.find(here);
    if (found == entries_.end())
      fail_usage("{}: there is no value '{}' to compare '{}' with", flag, here, name);
    renamed[name] = found->second;
  }
  for (auto& [name, entry] : renamed) entries_[name] = std::move(entry);
}

void ValueStore::write_npz(const std::string& path) const {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, entry] : entries_) {
    std::string file = entry.file;
    if (onnx_io::format_of(file) != FileFormat::npy) {
      const Value value = read(name);
      if (!value.is_tensor())
        fail_unsupported("'{}' is {}; a .npz holds tensors only, a folder and .json hold every value", name,
                         value.describe());
      file += ".npy";
      onnx_io::write_npy(file, value.tensor());
    }
    files.emplace_back(name, file);
  }
  onnx_io::write_npz_of(path, files);
}

std::map<std::string, std::string> read_name_map(const std::string& path) {
  using onnx_io::JsonTree;
  const onnx_io::Bytes file = onnx_io::read_file(path);
  return with_context(
      [&] { return path; },
      [&] {
        const JsonTree tree = JsonTree::parse(file.text());
        std::map<std::string, std::string> names;
        bool fits = tree.root().kind == JsonTree::Kind::object;
        const JsonTree::Node* key = JsonTree::first(tree.root());
        for (std::uint64_t i = 0; fits && i < tree.root().size; ++i) {
          const JsonTree::Node* value = JsonTree::next(key);
          fits = value->kind == JsonTree::Kind::string;
          if (fits) names.emplace(tree.text(*key), tree.text(*value));
          key = JsonTree::next(value);
        }
        if (!fits)
          fail_invalid(R"(names are an object of strings: {{"name in the model": "name in the reference"}})");
        return names;
      });
}

}  // namespace grurun::trial
