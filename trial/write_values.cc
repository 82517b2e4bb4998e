#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "trial/data_set.h"
#include "trial/data_set_names.h"

namespace grurun::trial {
namespace {

namespace fs = std::filesystem;
using onnx_io::FileFormat;

void save_single(const std::string& path, const std::vector<onnx_io::NamedValue>& named) {
  if (named.size() != 1) {
    fail_usage("{} can hold one value, but there are {}; name a folder, a .npz or a .json", path,
               named.size());
  }
  const auto& [name, value] = named.front();
  if (onnx_io::format_of(path) == FileFormat::pb) return onnx_io::write_pb(path, name, value);
  if (!value.is_tensor()) {
    fail_unsupported("{}: '{}' is a {}; .npy holds tensors only, .pb and .json hold it", path, name,
                     value.type().to_string());
  }
  onnx_io::write_npy(path, value.tensor());
}

/// Left of another model or run, they would be taken for values of the data set that the folder is now. They
/// may be all that is left of it, too: who wrote them may remove them.
std::vector<std::string> others_in(const std::string& folder, std::string_view prefix,
                                   const std::set<std::string>& written) {
  std::vector<std::string> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (file_number(name, prefix) && !written.contains(name) && !entry.is_directory())
      others.push_back(entry.path().string());
  }
  std::ranges::sort(others);
  return others;
}

/// Numbers count every slot once one replaces its initializer, so that no other may be left out then.
void add_initializers(const onnx_io::Graph& graph, const std::vector<Slot>& slots,
                      std::vector<Value>& values) {
  bool replaces = false;
  for (std::size_t i = 0; i < slots.size(); ++i)
    replaces = replaces || (slots[i].initialized && !values[i].empty());
  if (!replaces) return;
  const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(graph);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].initialized && values[i].empty()) values[i] = *initializers.at(slots[i].name);
  }
}

std::vector<std::string> save_folder(const std::string& folder, const std::vector<Slot>& slots,
                                     const std::vector<Value>& values, std::string_view prefix) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_usage("cannot make folder {}: {}", folder, error.message());
  std::set<std::string> written;
  std::size_t number = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (values[i].empty() && slots[i].initialized) continue;
    const std::string name = fmt::format("{}{}.pb", prefix, number++);
    const bool holds_nothing = values[i].empty() && slots[i].type.kind == ValueType::Kind::optional &&
                               slots[i].type.element != nullptr;
    if (values[i].empty() && !holds_nothing) continue;
    onnx_io::write_pb((fs::path(folder) / name).string(), slots[i].name,
                      holds_nothing ? Value(Optional{*slots[i].type.element, nullptr}) : values[i]);
    written.insert(name);
  }
  return others_in(folder, prefix, written);
}

}  // namespace

bool names_folder(const std::string& path) {
  return onnx_io::format_of(path) == FileFormat::none;
}

std::vector<std::string> write_values(const std::string& path, const onnx_io::Graph& graph,
                                      const std::vector<Slot>& slots, std::vector<Value> values, Side side) {
  if (names_folder(path)) {
    add_initializers(graph, slots, values);
    return save_folder(path, slots, values, file_prefix(side));
  }
  std::vector<onnx_io::NamedValue> named;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!values[i].empty()) named.push_back({slots[i].name, std::move(values[i])});
  }
  const FileFormat format = onnx_io::format_of(path);
  if (format == FileFormat::npz || format == FileFormat::json) {
    onnx_io::write_values(path, named);
  } else {
    save_single(path, named);
  }
  return {};
}

}  // namespace grurun::trial
