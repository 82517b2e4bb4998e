#include "trial/compare_files.h"

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "trial/as_type.h"

namespace grurun::trial {

namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;  // name without its ending: path

Files files_below(const std::string& folder) {
  Files out;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::follow_directory_symlink, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::string path = entry->path().string();
    if (entry->is_directory() || onnx_io::format_of(path) == onnx_io::FileFormat::none) continue;
    if (entry->path().filename() == "data.json") continue;  // tolerances of a case
    const std::string name = entry->path().lexically_relative(folder).replace_extension().string();
    const auto [first, is_first] = out.emplace(name, path);
    if (!is_first) fail_usage("{} and {} both hold '{}'; take one of them away", first->second, path, name);
  }
  if (error) fail_usage("{}: cannot list the folder: {}", folder, error.message());
  return out;
}

/// What a file holds, by name; the name of a single value says nothing about it.
std::map<std::string, Value> values_in(const std::string& path) {
  std::map<std::string, Value> out;
  const onnx_io::FileFormat format = onnx_io::format_of(path);
  const bool is_by_name = format == onnx_io::FileFormat::npz || format == onnx_io::FileFormat::json;
  for (onnx_io::NamedValue& value : onnx_io::read_values(path))
    out[is_by_name ? value.name : ""] = std::move(value.value);
  return out;
}

std::string joined(const std::string& file, const std::string& value) {
  return file.empty() || value.empty() ? file + value : file + ": " + value;
}

void compare_pair(const std::string& name, const std::string& actual, const std::string& expected,
                  const std::function<Tolerances(const std::string&)>& tolerances, bool cast,
                  std::vector<ComparedFile>& out) {
  const std::map<std::string, Value> left = values_in(actual), right = values_in(expected);
  std::set<std::string> names;
  for (const auto& [key, value] : left) names.insert(key);
  for (const auto& [key, value] : right) names.insert(key);
  for (const std::string& key : names) {
    ComparedFile& compared = out.emplace_back();
    compared.name = joined(name, key);
    compared.in_actual = left.contains(key);
    compared.in_expected = right.contains(key);
    if (compared.in_actual && compared.in_expected)
      compared.comparison =
          (cast ? compare_cast : compare_values)(left.at(key), right.at(key), tolerances(compared.name));
  }
}

bool is_folder(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) fail_usage("{}: no such file or folder", path);
  return fs::is_directory(status);
}

}  // namespace

std::vector<ComparedFile> compare_files(const std::string& actual, const std::string& expected,
                                        const std::function<Tolerances(const std::string&)>& tolerances,
                                        bool cast) {
  std::vector<ComparedFile> out;
  const bool folders = is_folder(actual);
  if (folders != is_folder(expected))
    fail_usage("{} and {}: one is a folder, the other is not", actual, expected);
  if (!folders) {
    compare_pair("", actual, expected, tolerances, cast, out);
    return out;
  }
  const Files left = files_below(actual), right = files_below(expected);
  Files all = left;
  all.insert(right.begin(), right.end());
  if (all.empty()) fail_usage("{} and {}: neither holds a .pb, .npy, .npz or .json", actual, expected);
  for (const auto& [name, path] : all) {
    if (left.contains(name) && right.contains(name)) {
      const std::size_t before = out.size();
      try {
        compare_pair(name, left.at(name), right.at(name), tolerances, cast, out);
      } catch (const Error& error) {
        out.resize(before);
        ComparedFile& compared = out.emplace_back();
        compared.name = name;
        compared.unreadable = error.what();
      }
      continue;
    }
    ComparedFile& compared = out.emplace_back();
    compared.name = name;
    compared.in_actual = left.contains(name);
    compared.in_expected = right.contains(name);
  }
  return out;
}

}  // namespace grurun::trial
