#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "onnx_io/folder.h"
#include "onnx_io/near_files.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "trial/data_set.h"
#include "trial/data_set_names.h"

namespace grurun::trial {
namespace {

namespace fs = std::filesystem;

bool has_no_ending(const std::string& path) {
  return fs::path(path).extension().empty();
}

class Reader {
 public:
  Reader(std::vector<Slot> slots, Side side, const std::string& flag)
      : slots_(std::move(slots)),
        side_(side),
        flag_(flag.empty() ? "" : flag + " "),
        noun_(side == Side::input ? "input" : "output"),
        prefix_(file_prefix(side)) {
    values_.resize(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) by_name_.emplace(slots_[i].name, i);
  }

  std::vector<Value> read(const std::vector<std::string>& arguments) {
    std::vector<std::string> ordered;
    for (const std::string& argument : arguments) {
      if (const std::optional<std::size_t> equals = name_ends_at(argument)) {
        read_one(slot_named(argument.substr(0, *equals), argument), argument.substr(*equals + 1));
      } else if (std::error_code ignored; fs::is_directory(argument, ignored)) {
        read_folder(argument);
      } else if (const auto format = onnx_io::format_of(argument);
                 format == onnx_io::FileFormat::npz || format == onnx_io::FileFormat::json) {
        read_by_name(argument);
      } else {
        ordered.push_back(argument);
      }
    }
    const std::vector<std::size_t> order = slot_order(ordered.size(), Filled::skipped);
    if (ordered.size() > order.size()) {
      fail_usage("{}names {} files, but the model has {} {}s: {}", flag_, ordered.size(), slots_.size(),
                 noun_, quoted_list(names()));
    }
    for (std::size_t i = 0; i < ordered.size(); ++i) read_one(order[i], ordered[i]);
    const bool is_none = std::ranges::all_of(values_, [](const Value& value) { return value.empty(); });
    if (side_ == Side::output && is_none && !arguments.empty()) {
      // What was to be compared is lost: that must not pass for agreement.
      fail_usage(
          "{}{}: holds no value for an {}; {}", flag_, arguments.front(), noun_,
          slots_.empty() ? "the model has none" : fmt::format("the model's are {}", quoted_list(names())));
    }
    return std::move(values_);
  }

  std::vector<Value> read_only(const std::string& folder) {
    read_folder(folder);
    return std::move(values_);
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Slot& slot : slots_) out.push_back(slot.name);
    return out;
  }

  // Where NAME ends in NAME=FILE. Both names and paths may hold '='; a name that the model has decides. An
  // argument that exists as a file is one.
  std::optional<std::size_t> name_ends_at(const std::string& argument) const {
    for (std::size_t at = argument.find('='); at != std::string::npos; at = argument.find('=', at + 1)) {
      if (by_name_.contains(std::string_view(argument).substr(0, at))) return at;
    }
    std::error_code ignored;
    if (fs::exists(argument, ignored)) return std::nullopt;
    const std::size_t at = argument.find('=');
    return at == std::string::npos ? std::nullopt : std::optional(at);
  }

  std::size_t slot_named(const std::string& name, const std::string& where) const {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    fail_usage("{}{}: the model has no {} '{}'; its {}s are {}", flag_, where, noun_, name, noun_,
               quoted_list(names()));
  }

  // Slots that `count` files in order belong to: all of them, or those that need a value when there are
  // fewer.
  enum class Filled { counted, skipped };
  std::vector<std::size_t> slot_order(std::size_t count, Filled filled) const {
    std::vector<std::size_t> all;
    std::vector<std::size_t> needed;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (filled == Filled::skipped && !values_[i].empty()) continue;
      all.push_back(i);
      if (!slots_[i].initialized) needed.push_back(i);
    }
    return count <= needed.size() ? needed : all;
  }

  void set(std::size_t index, Value value, const std::string& path) {
    if (!values_[index].empty()) {
      fail_usage("{}{}: {} '{}' already has a value", flag_, path, noun_, slots_[index].name);
    }
    values_[index] = std::move(value);
  }

  void read_one(std::size_t index, const std::string& path) {
    if (path.empty()) fail_usage("{}{}=: no file is named", flag_, slots_[index].name);
    // What has no ending that values are read from may have been meant as a folder.
    std::error_code ignored;
    if (has_no_ending(path) && !fs::exists(path, ignored))
      fail_usage("{}{}: no such file or folder{}", flag_, path, onnx_io::near_files(path));
    std::vector<onnx_io::NamedValue> read = onnx_io::read_values(path, &slots_[index].type);
    // A file with several values gives the one of that name.
    if (read.size() > 1) {
      std::erase_if(read, [&](const onnx_io::NamedValue& v) { return v.name != slots_[index].name; });
    }
    if (read.size() != 1) {
      fail_usage("{}{}: holds no value for {} '{}'", flag_, path, noun_, slots_[index].name);
    }
    set(index, std::move(read.front().value), path);
  }

  void read_by_name(const std::string& path) {
    for (onnx_io::NamedValue& read : onnx_io::read_values(path)) {
      // A .json of one bare value names nothing: it can only mean a lone slot.
      const bool lone = read.name.empty() && slots_.size() == 1;
      if (read.name.empty() && !lone) {
        fail_usage("{}{}: the value has no name, but the model has {} {}s: {}", flag_, path, slots_.size(),
                   noun_, quoted_list(names()));
      }
      set(lone ? 0 : slot_named(read.name, path), std::move(read.value), path);
    }
  }

  void read_folder(const std::string& folder) {
    const NumberedFiles found = numbered_files(folder);
    if (found.empty() && std::ranges::any_of(slots_, &Slot::is_needed)) {
      const bool is_case = fs::is_directory(fs::path(folder) / "test_data_set_0");
      fail_usage("{}{}: the folder holds no {}K.pb{}", flag_, folder, prefix_,
                 is_case ? "; its test_data_set_0 is a data set" : "");
    }
    for (std::size_t i = 0; side_ == Side::output && i < slots_.size(); ++i) {
      if (found.contains(i)) continue;
      fail_invalid("{}: {} '{}' has no file {}{}.pb there", folder, noun_, slots_[i].name, prefix_, i);
    }
    const std::size_t count = found.empty() ? 0 : found.rbegin()->first + 1;
    const std::vector<std::size_t> order = slot_order(count, Filled::counted);
    for (const auto& [index, path] : found) {
      if (index >= order.size())
        fail_usage("{}{}: no {} belongs to it; the model has {}", flag_, path, noun_, slots_.size());
      read_one(order[index], path);
    }
  }

  using NumberedFiles = std::map<std::size_t, std::string>;

  /// Files of the side, and no others that may have been meant as such: what they hold would be ignored.
  NumberedFiles numbered_files(const std::string& folder) const {
    int failure = 0;
    std::vector<std::string> names;
    for (const onnx_io::FolderEntry& entry : onnx_io::entries_of(folder, &failure))
      names.push_back(entry.name);
    if (failure != 0)
      fail_usage("{}{}: cannot list the folder: {}", flag_, folder, onnx_io::listing_failure(failure));
    std::ranges::sort(names);
    NumberedFiles found;
    for (const std::string& name : names) {
      const std::string path = (fs::path(folder) / name).string();
      if (is_misnamed(name, prefix_))
        fail_usage("{}{}: files of a data set are named {}K.pb, or .npy; rename it or take it away", flag_,
                   path, prefix_);
      if (const auto value = value_of_file(name); value && by_name_.contains(*value))
        fail_usage(
            "{}{}: files of a data set are named {}K.pb, or .npy; rename it, or give it by name: {}={}",
            flag_, path, prefix_, *value, path);
      const std::optional<std::size_t> number = file_number(name, prefix_);
      if (!number) continue;
      const auto [first, is_first] = found.emplace(*number, path);
      if (is_first) continue;
      fail_usage("{}{}: several files for {} {}: {} and {}", flag_, folder, noun_, *number,
                 fs::path(first->second).filename().string(), name);
    }
    return found;
  }

  const std::vector<Slot> slots_;
  const Side side_;
  const std::string flag_;  // with a space behind it, or nothing
  const char* const noun_;
  const std::string_view prefix_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::vector<Value> values_;
};

}  // namespace

std::vector<Slot> input_slots(const onnx_io::Graph& graph) {
  const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(graph);
  std::vector<Slot> slots;
  for (const onnx_io::ValueInfo& input : graph.inputs) {
    slots.push_back({input.name, input.type, initializers.contains(input.name)});
  }
  return slots;
}

std::vector<Slot> output_slots(const onnx_io::Graph& graph) {
  std::vector<Slot> slots;
  for (const onnx_io::ValueInfo& output : graph.outputs) slots.push_back({output.name, output.type});
  return slots;
}

std::string_view file_prefix(Side side) {
  return side == Side::input ? input_prefix : output_prefix;
}

std::vector<Value> read_values(const std::vector<std::string>& arguments, const std::vector<Slot>& slots,
                               Side side, const std::string& flag) {
  return Reader(slots, side, flag).read(arguments);
}

DataSet read_data_set(const std::string& folder, const onnx_io::Graph& graph) {
  DataSet set;
  set.name = fs::path(folder).filename().string();
  set.inputs = Reader(input_slots(graph), Side::input, "").read_only(folder);
  set.expected = Reader(output_slots(graph), Side::output, "").read_only(folder);
  return set;
}

std::string quoted_list(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += "'" + names[i] + "'";
  }
  return out;
}

}  // namespace grurun::trial
