#include "cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "cli/element_text.h"
#include "cli/flag_values.h"
#include "cli/streams.h"
#include "onnx_io/tensor_files.h"
#include "tensor/error.h"

namespace grurun::cli {
namespace {

namespace fs = std::filesystem;

void save_single(const std::string& path, const std::vector<onnx_io::NamedValue>& named) {
  if (named.size() != 1) {
    fail_usage("{} can hold one value, but there are {}; name a folder, a .npz or a .json", path,
               named.size());
  }
  const auto& [name, value] = named.front();
  if (path.ends_with(".pb")) return onnx_io::write_pb(path, name, value);
  if (!value.is_tensor()) {
    fail_unsupported("{}: '{}' is a {}; .npy holds tensors only, .pb and .json hold it", path, name,
                     value.type().to_string());
  }
  onnx_io::write_npy(path, value.tensor());
}

bool is_numbered(const std::string& name, const std::string& prefix) {
  const std::string_view ending = name.ends_with(".npy") ? ".npy" : ".pb";
  if (!name.starts_with(prefix) || !name.ends_with(ending)) return false;
  const std::string_view number =
      std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - ending.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

// Left of another model or run, they would be taken for values of the data set that the folder is now. They
// may be all that is left of it, too: who wrote them may remove them.
void tell_of_others(const std::string& folder, const std::string& prefix,
                    const std::set<std::string>& written) {
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (is_numbered(name, prefix) && !written.contains(name) && !entry.is_directory())
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
           std::optional<double> conformance::ToleranceChoice::*member,
           std::vector<conformance::Tolerances>& out) {
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
      for (conformance::Tolerances& tolerances : out) tolerances.flag.*member = number;
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

bool is_one_file(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return !path.empty() && path != "-" && (!fs::exists(status) || fs::is_regular_file(status));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  // What does not exist yet would be left relative.
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path), ignored);
  };
  return fs::equivalent(a, b, ignored) || whole(a) == whole(b);
}

/// An argument, and what it names if it is NAME=FILE, where either may hold '='.
std::vector<std::string> possible_files(const std::string& argument) {
  std::vector<std::string> out{argument};
  for (std::size_t at = argument.find('='); at != std::string::npos; at = argument.find('=', at + 1))
    out.push_back(argument.substr(at + 1));
  return out;
}

[[noreturn]] void fail_over(const NamedPath& written, const char* read) {
  fail_usage("{} {} would write over what {} reads; name another path", written.flag, written.path, read);
}

}  // namespace

bool names_folder(const std::string& path) {
  constexpr const char* endings[] = {".npz", ".json", ".pb", ".npy"};
  return std::ranges::none_of(endings, [&](const char* ending) { return path.ends_with(ending); });
}

void require_distinct(const std::vector<NamedPath>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_one_file(paths[i].path) || !is_one_file(paths[j].path)) continue;
      if (!is_same_file(paths[i].path, paths[j].path)) continue;
      fail_usage("{} and {} both write {}; give each a file of its own", paths[j].flag, paths[i].flag,
                 paths[i].path);
    }
  }
}

void require_unread(const std::vector<NamedPath>& written, const std::vector<NamedPath>& read) {
  for (const NamedPath& to : written) {
    for (const NamedPath& from : read) {
      for (const std::string& path : possible_files(from.path)) {
        if (is_one_file(to.path) && is_one_file(path) && is_same_file(to.path, path))
          fail_over(to, from.flag);
      }
    }
  }
}

std::vector<NamedPath> files_of(const onnx_io::Model& model) {
  std::vector<NamedPath> files{{"the model", model.path}};
  for (const std::string& path : model.external_files) files.push_back({"the model", path});
  return files;
}

void require_unread_folder(const NamedPath& folder, const std::string& prefix,
                           const std::vector<NamedPath>& read) {
  std::error_code ignored;
  if (!fs::is_directory(folder.path, ignored)) return;
  for (const NamedPath& from : read) {
    for (const std::string& path : possible_files(from.path)) {
      const fs::path file(path);
      const bool is_in_it = is_numbered(file.filename().string(), prefix) && fs::exists(file, ignored) &&
                            is_same_file(fs::absolute(file).parent_path().string(), folder.path);
      if (is_in_it || (fs::is_directory(file, ignored) && is_same_file(path, folder.path)))
        fail_over(folder, from.flag);
    }
  }
}

void save_values(const std::string& path, const std::vector<Slot>& slots, const std::vector<Value>& values,
                 const std::string& prefix) {
  std::vector<onnx_io::NamedValue> named;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!values[i].empty()) named.push_back({slots[i].name, values[i]});
  }
  if (path.ends_with(".npz") || path.ends_with(".json")) return onnx_io::write_values(path, named);
  if (path.ends_with(".pb") || path.ends_with(".npy")) return save_single(path, named);
  save_folder(path, slots, values, prefix);
}

void save_inputs(const std::string& path, const onnx_io::Graph& graph, const std::vector<Slot>& slots,
                 std::vector<Value> values) {
  bool replaces = false;
  for (std::size_t i = 0; i < slots.size(); ++i)
    replaces = replaces || (slots[i].initialized && !values[i].empty());
  // Numbers then count every input, so that none may be left out.
  for (std::size_t i = 0; replaces && names_folder(path) && i < slots.size(); ++i) {
    if (slots[i].initialized && values[i].empty()) values[i] = *graph.find_initializer(slots[i].name);
  }
  save_values(path, slots, values, input_files.prefix);
}

std::vector<conformance::Tolerances> tolerances_for(const ToleranceFlags& flags,
                                                    const std::vector<Slot>& outputs) {
  std::vector<conformance::Tolerances> out(outputs.size());
  apply("--rtol", flags.rtol, outputs, &conformance::ToleranceChoice::rtol, out);
  apply("--atol", flags.atol, outputs, &conformance::ToleranceChoice::atol, out);
  return out;
}

}  // namespace grurun::cli
