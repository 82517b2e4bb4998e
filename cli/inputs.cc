#include "cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "cli/flag_values.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "trial/data_set_names.h"

namespace grurun::cli {
namespace {

namespace fs = std::filesystem;

bool has_no_ending(const std::string& path) {
  return fs::path(path).extension().empty();
}

class Reader {
 public:
  Reader(const std::vector<Slot>& slots, const SlotFiles& files) : slots_(slots), files_(files) {
    values_.resize(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) by_name_.emplace(slots[i].name, i);
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
      fail_usage("{} names {} files, but the model has {} {}s: {}", files_.flag, ordered.size(),
                 slots_.size(), files_.noun, quoted_list(names()));
    }
    for (std::size_t i = 0; i < ordered.size(); ++i) read_one(order[i], ordered[i]);
    const bool is_none = std::ranges::all_of(values_, [](const Value& value) { return value.empty(); });
    if (files_.complete && is_none && !arguments.empty()) {
      // What was to be compared is lost: that must not pass for agreement.
      fail_usage(
          "{} {}: holds no value for an {}; {}", files_.flag, arguments.front(), files_.noun,
          slots_.empty() ? "the model has none" : fmt::format("the model's are {}", quoted_list(names())));
    }
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
    fail_usage("{} {}: the model has no {} '{}'; its {}s are {}", files_.flag, where, files_.noun, name,
               files_.noun, quoted_list(names()));
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
      fail_usage("{} {}: {} '{}' already has a value", files_.flag, path, files_.noun, slots_[index].name);
    }
    values_[index] = std::move(value);
  }

  void read_one(std::size_t index, const std::string& path) {
    if (path.empty()) fail_usage("{} {}=: no file is named", files_.flag, slots_[index].name);
    // What has no ending that values are read from may have been meant as a folder.
    std::error_code ignored;
    if (has_no_ending(path) && !fs::exists(path, ignored))
      fail_usage("{} {}: there is no such file or folder", files_.flag, path);
    std::vector<onnx_io::NamedValue> read = onnx_io::read_values(path, &slots_[index].type);
    // A file with several values gives the one of that name.
    if (read.size() > 1) {
      std::erase_if(read, [&](const onnx_io::NamedValue& v) { return v.name != slots_[index].name; });
    }
    if (read.size() != 1) {
      fail_usage("{} {}: holds no value for {} '{}'", files_.flag, path, files_.noun, slots_[index].name);
    }
    set(index, std::move(read.front().value), path);
  }

  void read_by_name(const std::string& path) {
    for (onnx_io::NamedValue& read : onnx_io::read_values(path)) {
      // A .json of one bare value names nothing: it can only mean a lone slot.
      const bool lone = read.name.empty() && slots_.size() == 1;
      if (read.name.empty() && !lone) {
        fail_usage("{} {}: the value has no name, but the model has {} {}s: {}", files_.flag, path,
                   slots_.size(), files_.noun, quoted_list(names()));
      }
      set(lone ? 0 : slot_named(read.name, path), std::move(read.value), path);
    }
  }

  void read_folder(const std::string& folder) {
    std::map<std::size_t, std::string> found;
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    if (error) fail_usage("{} {}: cannot list the folder: {}", files_.flag, folder, error.message());
    for (const fs::directory_entry& entry : entries) {
      const fs::path& path = entry.path();
      const std::string name = path.filename().string();
      if (trial::is_misnamed(name, files_.prefix))
        fail_usage("{} {}: files of a data set are named {}K.pb, or .npy; rename it or take it away",
                   files_.flag, path.string(), files_.prefix);
      if (const auto value = trial::value_of_file(name); value && by_name_.contains(*value))
        fail_usage(
            "{} {}: files of a data set are named {}K.pb, or .npy; rename it, or give it by name: {}={}",
            files_.flag, path.string(), files_.prefix, *value, path.string());
      const std::optional<std::size_t> index = trial::file_number(name, files_.prefix);
      if (index && !found.emplace(*index, path.string()).second) {
        fail_usage("{} {}: several files for {}{}", files_.flag, folder, files_.prefix, *index);
      }
    }
    const auto is_needed = [](const Slot& slot) {
      return !slot.initialized && slot.type.kind != ValueType::Kind::optional;
    };
    if (found.empty() && std::ranges::any_of(slots_, is_needed)) {
      const bool is_case = fs::is_directory(fs::path(folder) / "test_data_set_0");
      fail_usage("{} {}: the folder holds no {}K.pb{}", files_.flag, folder, files_.prefix,
                 is_case ? "; its test_data_set_0 is a data set" : "");
    }
    const std::size_t count = found.empty() ? 0 : found.rbegin()->first + 1;
    const std::vector<std::size_t> order = slot_order(count, Filled::counted);
    for (std::size_t i = 0; files_.complete && i < slots_.size(); ++i) {
      if (found.contains(i)) continue;
      fail_invalid("{}: {} '{}' has no file {}{}.pb there", folder, files_.noun, slots_[i].name,
                   files_.prefix, i);
    }
    for (const auto& [index, path] : found) {
      if (index >= order.size()) {
        fail_usage("{} {}: no {} belongs to it; the model has {}", files_.flag, path, files_.noun,
                   slots_.size());
      }
      read_one(order[index], path);
    }
  }

  const std::vector<Slot>& slots_;
  const SlotFiles& files_;
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

std::vector<Value> read_slots(const std::vector<std::string>& arguments, const std::vector<Slot>& slots,
                              const SlotFiles& files) {
  return Reader(slots, files).read(arguments);
}

}  // namespace grurun::cli
