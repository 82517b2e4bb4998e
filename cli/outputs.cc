#include "cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "cli/flag_values.h"
#include "cli/path_conflicts.h"
#include "cli/streams.h"
#include "onnx_io/values/tensor_files.h"
#include "report/element_text.h"
#include "tensor/error.h"
#include "trial/data_set_names.h"

namespace grurun::cli {
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

// Left of another model or run, they would be taken for values of the data set that the folder is now. They
// may be all that is left of it, too: who wrote them may remove them.
void tell_of_others(const std::string& folder, const std::string& prefix,
                    const std::set<std::string>& written) {
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (trial::file_number(name, prefix) && !written.contains(name) && !entry.is_directory())
      others.push_back(entry.path());
  }
  std::sort(others.begin(), others.end());
  for (const fs::path& other : others) {
    tell("grurun: {} is not of this run; remove it to make the folder a data set of it\n",
         printable(other.string()));
  }
}

void save_folder(const std::string& folder, const std::vector<Slot>& slots, const std::vector<Value>& values,
                 const std::string& prefix) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_usage("cannot make folder {}: {}", folder, error.message());
  std::set<std::string> written;
  std::size_t number = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    // Where files are fewer than inputs, those that have an initializer are not counted.
    if (values[i].empty() && slots[i].initialized) continue;
    const std::size_t own = number++;
    if (values[i].empty()) continue;
    const std::string name = fmt::format("{}{}.pb", prefix, own);
    onnx_io::write_pb((fs::path(folder) / name).string(), slots[i].name, values[i]);
    written.insert(name);
  }
  tell_of_others(folder, prefix, written);
}

void apply(const char* flag, const std::vector<std::string>& texts, const std::vector<Slot>& outputs,
           std::optional<double> trial::ToleranceChoice::*member, std::vector<trial::Tolerances>& out) {
  std::vector<std::pair<std::string, double>> parsed;
  std::vector<std::string> names;
  for (const std::string& text : texts) parsed.push_back(parse_named_number(flag, text));
  for (const Slot& output : outputs) names.push_back(output.name);
  std::set<std::string> seen;
  for (const auto& [name, number] : parsed) {
    if (!seen.insert(name).second) {
      fail_usage("{}: the tolerance {} is given twice", flag,
                 name.empty() ? "of all outputs" : "of '" + name + "'");
    }
    if (name.empty()) {
      for (trial::Tolerances& tolerances : out) tolerances.flag.*member = number;
    }
  }
  for (const auto& [name, number] : parsed) {
    if (name.empty()) continue;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      fail_usage("{}: the model has no output '{}'; its outputs are {}", flag, name, quoted_list(names));
    }
    out[static_cast<std::size_t>(found - names.begin())].flag.*member = number;
  }
}

}  // namespace

bool names_folder(const std::string& path) {
  return onnx_io::format_of(path) == FileFormat::none;
}

void require_format(const char* flag, const std::string& path) {
  constexpr const char* formats = ".npz, .json, .pb and .npy";
  if (path == "-")
    fail_usage("{} takes a folder or a file ({}): standard output is for what is printed", flag, formats);
  std::error_code ignored;
  const fs::path name = fs::path(path).filename();
  if (!names_folder(path) || !name.has_extension() || fs::is_directory(path, ignored)) return;
  fail_usage("{} {}: '{}' is no format of values ({} are); of a new folder write the name with '/' behind it",
             flag, path, name.extension().string(), formats);
}

void save_values(const std::string& path, const std::vector<Slot>& slots, const std::vector<Value>& values,
                 const std::string& prefix) {
  std::vector<onnx_io::NamedValue> named;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!values[i].empty()) named.push_back({slots[i].name, values[i]});
  }
  switch (onnx_io::format_of(path)) {
    case FileFormat::npz:
    case FileFormat::json:
      return onnx_io::write_values(path, named);
    case FileFormat::pb:
    case FileFormat::npy:
      return save_single(path, named);
    case FileFormat::none:
      save_folder(path, slots, values, prefix);
  }
}

void save_inputs(const std::string& path, const onnx_io::Graph& graph, const std::vector<Slot>& slots,
                 std::vector<Value> values) {
  bool replaces = false;
  for (std::size_t i = 0; i < slots.size(); ++i)
    replaces = replaces || (slots[i].initialized && !values[i].empty());
  // Numbers then count every input, so that none may be left out.
  if (replaces && names_folder(path)) {
    const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(graph);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].initialized && values[i].empty()) values[i] = *initializers.at(slots[i].name);
    }
  }
  save_values(path, slots, values, input_files.prefix);
}

std::vector<trial::Tolerances> tolerances_for(const ToleranceFlags& flags, const std::vector<Slot>& outputs) {
  std::vector<trial::Tolerances> out(outputs.size());
  apply("--rtol", flags.rtol, outputs, &trial::ToleranceChoice::rtol, out);
  apply("--atol", flags.atol, outputs, &trial::ToleranceChoice::atol, out);
  return out;
}

}  // namespace grurun::cli
