#include "conformance/discover.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "conformance/official/official_cases.h"
#include "onnx_io/bytes.h"
#include "onnx_io/folder.h"
#include "onnx_io/models/find_models.h"
#include "onnx_io/near_files.h"
#include "onnx_io/system_folders.h"
#include "onnx_io/text_file.h"
#include "onnx_io/values/json_tree.h"
#include "tensor/error.h"
#include "trial/data_set_names.h"

namespace grurun::conformance {

namespace {

namespace fs = std::filesystem;

constexpr const char* onnx_model = "model.onnx";
constexpr std::uint64_t largest_data_json = std::uint64_t{1} << 20;
constexpr const char* ir_model = "model.xml";  // an OpenVINO IR, with its weights in model.bin

/// What one folder holds, each list sorted.
struct Listing {
  std::vector<std::string> folders;
  std::vector<std::string> models;                       // *.onnx, and model.xml
  std::vector<std::string> written_otherwise;            // other models, as text or compressed
  std::map<std::string, std::string> unseen;             // what hides a case or a data set, and why
  std::unordered_map<std::string, std::string> outputs;  // X of X_output_K.pb to the first such file by name
  std::vector<std::string> links;
  bool has_data_json = false;

  bool has(const std::string& model) const { return std::binary_search(models.begin(), models.end(), model); }
  bool is_flat(const std::string& model) const { return outputs.contains(fs::path(model).stem().string()); }

  /// That data sets beside it belong to: model.onnx, model.xml or the only one there. Empty: there is none,
  /// or which is not known.
  std::string case_model() const {
    for (const char* model : {onnx_model, ir_model})
      if (has(model)) return model;
    std::string only;
    for (const auto* list : {&models, &written_otherwise}) {
      for (const std::string& model : *list) {
        if (is_flat(model)) continue;
        if (!only.empty()) return {};
        only = model;
      }
    }
    return only;
  }
};

/// failure: number of errno where the folder cannot be read, else 0.
Listing list(const fs::path& folder, int& failure) {
  Listing out;
  for (onnx_io::FolderEntry& entry : onnx_io::entries_of(folder.string(), &failure)) {
    std::string& name = entry.name;
    std::error_code error;
    if (entry.is_link) out.links.push_back(name);
    if (entry.is_folder || (entry.is_link && fs::is_directory(folder / name, error))) {
      out.folders.push_back(std::move(name));
    } else if (error) {
      out.unseen.emplace(std::move(name),
                         fmt::format("the symbolic link cannot be followed: {}", error.message()));
    } else if (trial::is_numbered_data_set(name)) {  // a checkout without symbolic links has a file for one
      out.unseen.emplace(std::move(name), "a data set must be a folder");
    } else if (name == "data.json") {
      out.has_data_json = true;
    } else if (name.ends_with(".onnx") || name == ir_model) {
      out.models.push_back(std::move(name));
    } else if (onnx_io::is_named_as_model(name)) {
      out.written_otherwise.push_back(std::move(name));
    } else if (auto model = trial::model_of_output(name)) {
      const auto [first, is_new] = out.outputs.emplace(*std::move(model), name);
      if (!is_new) first->second = std::min(first->second, name);
    }
  }
  std::sort(out.folders.begin(), out.folders.end());
  std::sort(out.models.begin(), out.models.end());
  return out;
}

/// A path as the user reached it, not as links lead: from the root on, without "." and "..".
class FullPath {
 public:
  FullPath(const fs::path& working_folder, const fs::path& path)
      : full_((working_folder / path).lexically_normal()) {
    if (!full_.has_filename()) full_ = full_.parent_path();
  }

  std::string text() const { return full_.string(); }
  std::string name() const { return full_.filename().string(); }
  std::string parent_name() const { return full_.parent_path().filename().string(); }

 private:
  fs::path full_;
};

struct DataJson {
  std::string url;
  trial::ToleranceChoice tolerance;
  std::string problem;  // not empty: cannot be read
};

using onnx_io::JsonTree;

std::string url_in(const JsonTree& json) {
  const JsonTree::Node* const found = json.find(json.root(), "url");
  if (found == nullptr) return {};
  if (found->kind != JsonTree::Kind::string)
    fail_invalid("url must be a string, not {}", onnx_io::describe(found->kind));
  return std::string(json.text(*found));
}

std::optional<double> measure_in(const JsonTree& json, const char* key) {
  const JsonTree::Node* const found = json.find(json.root(), key);
  if (found == nullptr) return std::nullopt;
  const std::optional<double> value = onnx_io::number_of(*found);
  if (!value) fail_invalid("{} must be a number from 0, not {}", key, onnx_io::describe(found->kind));
  if (!(*value >= 0)) fail_invalid("{} must be a number from 0, not {}", key, *value);
  return value;
}

DataJson read_data_json(const fs::path& path) {
  DataJson out;
  std::string where;  // as the message about opening it says by itself
  try {
    const onnx_io::OpenFile file = onnx_io::open_file(path.string());
    where = path.string() + ": ";
    if (file.size > largest_data_json)
      fail_invalid("it has {} bytes, and a data.json has at most {}", file.size,
                   onnx_io::mebibytes(largest_data_json));
    const JsonTree json = JsonTree::parse(onnx_io::read_whole(file).text());
    if (json.root().kind != JsonTree::Kind::object)
      fail_invalid("it must hold a JSON object, not {}", onnx_io::describe(json.root().kind));
    out.url = url_in(json);
    out.tolerance = {measure_in(json, "rtol"), measure_in(json, "atol")};
  } catch (const Error& error) {
    out.problem = where + error.message();
  }
  return out;
}

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

class Finder {
 public:
  explicit Finder(Deadline deadline) : deadline_(deadline) {}

  void start(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
      fail_usage("{}: no such file or folder; give folders of cases, or cases{}", path,
                 onnx_io::near_files(path));
    if (!fs::status_known(status)) fail_usage("{}: {}", path, error.message());
    const std::size_t before = reached_;
    system_.begin(path);
    if (fs::is_directory(status)) {
      const std::string problem = folder(path);
      if (!problem.empty()) fail_usage("{}: {}", path, problem);
    } else {
      file(path);
    }
    if (reached_ == before) found_.without_case.push_back(path);
  }

  Discovery finish() {
    for (const fs::path& folder : flat_folders_) urls_of_neighbours(folder);
    for (const auto& [folder, data] : urls_) url_folder(folder, data, true);
    return std::move(found_);
  }

 private:
  static bool has_model(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / onnx_model, ignored) || fs::exists(folder / ir_model, ignored);
  }

  Listing listed(const fs::path& folder, int& failure) {
    Listing listing = list(folder, failure);
    for (const std::string& name : listing.links) found_.links.push_back((folder / name).string());
    return listing;
  }

  /// Why the folder cannot be listed; empty when it can.
  std::string folder(const fs::path& path) {
    if (deadline_ && std::chrono::steady_clock::now() >= *deadline_)
      fail_usage("{}: the time of --max-run-time was up while cases were looked for", path.string());
    if (system_.hold(path)) {
      found_.no_cases["a folder of the system"].push_back(path.string());
      return {};
    }
    int failure = 0;
    const Listing listing = listed(path, failure);
    if (failure != 0) return fmt::format("the folder cannot be read: {}", onnx_io::listing_failure(failure));
    const bool has_sets = std::any_of(listing.folders.begin(), listing.folders.end(), trial::is_data_set);
    const std::string case_model = has_sets ? listing.case_model() : "";
    const bool is_case = !case_model.empty();
    if (is_case) add_case(path, listing, case_model);
    if (!first_visit(path)) {
      ++reached_;  // what is below it was found before, if there is anything
      return {};
    }
    for (const auto& [name, problem] : listing.unseen) add_unseen(path / name, problem);
    if (const auto generators = node_generators(path.string()))
      found_.no_cases[node_cases_as_code].push_back(*generators);
    if (has_sets && !is_case)
      found_.no_cases["test_data_set_* without a model, or with several and none is model.onnx"].push_back(
          path.string());
    for (const std::string& model : listing.models) {
      if (model != case_model && !(is_case && model == ir_model)) other_model(path / model, listing);
    }
    for (const auto& [model, output] : listing.outputs) {
      if (!is_case && !listing.has(model + ".onnx"))
        found_.no_cases["expected outputs without a model"].push_back((path / output).string());
    }
    if (listing.has_data_json && !is_case) urls_.emplace(path.string(), read_data_json(path / "data.json"));
    for (const std::string& name : listing.folders) {
      // Other names that begin so may be of cases, too.
      if (trial::is_data_set(name) && (is_case || !has_model(path / name))) continue;
      if (is_case && !trial::is_data_set(name) && trial::is_like_data_set(name) && !has_model(path / name)) {
        add_unseen(path / name, fmt::format("the name of a data set is {}K", trial::data_set_prefix));
        continue;
      }
      const std::string problem = folder(path / name);
      if (!problem.empty()) add_unseen(path / name, problem);
    }
    return {};
  }

  void other_model(const fs::path& model, const Listing& listing) {
    if (listing.is_flat(model.string()))
      add_flat(model);
    else
      found_.no_cases["a model without expected outputs"].push_back(model.string());
  }

  void file(const fs::path& path) {
    const fs::path holder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    int failure = 0;
    const Listing listing = listed(holder, failure);
    if (failure != 0) fail_usage("{}: {}", holder.string(), onnx_io::listing_failure(failure));
    const std::string name = path.filename().string();
    const bool is_case_model = name == onnx_model || name == ir_model || name == listing.case_model();
    if (is_case_model && std::any_of(listing.folders.begin(), listing.folders.end(), trial::is_data_set))
      return add_case(holder, listing, name);
    if (name.ends_with(".onnx") && listing.outputs.contains(path.stem().string())) return add_flat(path);
    fail_usage("{}: no case: a model file needs test_data_set_* folders or {} beside it", path.string(),
               trial::output_of_model(path.stem().string(), 0));
  }

  void add_case(const fs::path& path, const Listing& listing, const std::string& model) {
    const FullPath full(working_folder_, path);
    Case found;
    found.name = full.name();
    found.kind = full.parent_name();
    found.path = path.string();
    found.model = (path / model).string();
    std::vector<std::string> sets;
    std::copy_if(listing.folders.begin(), listing.folders.end(), std::back_inserter(sets),
                 trial::is_data_set);
    std::sort(sets.begin(), sets.end(), trial::data_set_order);
    for (const std::string& set : sets) found.data_sets.push_back((path / set).string());
    for (const auto& [name, problem] : listing.unseen)
      if (trial::is_data_set(name)) add_unseen(path / name, problem);
    if (listing.has_data_json) {
      const DataJson data = read_data_json(path / "data.json");
      found.tolerance = data.tolerance;
      found.problem = data.problem;
    }
    add(full, std::move(found));
  }

  void add_flat(const fs::path& model) {
    const FullPath full(working_folder_, model);
    Case found;
    found.name = model.stem().string();
    found.kind = full.parent_name();
    found.path = found.model = model.string();
    found.flat = true;
    if (!add(full, std::move(found))) return;
    flat_cases_.emplace(model.filename().string(), found_.cases.size() - 1);
    flat_folders_.insert(model.has_parent_path() ? model.parent_path() : fs::path("."));
  }

  /// False when the user's paths led to it before.
  bool add(const FullPath& path, Case found) {
    ++reached_;
    if (!paths_.insert(path.text()).second) return false;
    found_.cases.push_back(std::move(found));
    return true;
  }

  void add_unseen(const fs::path& path, const std::string& problem) {
    ++reached_;
    const FullPath full(working_folder_, path);
    if (!paths_.insert(full.text()).second) return;
    Case unseen;
    unseen.name = full.name();
    unseen.kind = full.parent_name();
    unseen.path = path.string();
    unseen.problem = problem;
    found_.unseen.push_back(std::move(unseen));
  }

  bool first_visit(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return true;
    return visited_.emplace(status.st_dev, status.st_ino).second;
  }

  /// The official suites keep the tolerances of light/ in real/ next to it, which the user need not have
  /// named.
  void urls_of_neighbours(const fs::path& light) {
    std::error_code error;
    const fs::path real = light / ".." / "real";
    for (fs::directory_iterator entry(real, error), end; !error && entry != end; entry.increment(error)) {
      const fs::path data = entry->path() / "data.json";
      std::error_code hidden;
      if (fs::exists(data, hidden)) url_folder(entry->path(), read_data_json(data), false);
      if (hidden) add_unseen(entry->path(), fmt::format("the folder cannot be read: {}", hidden.message()));
    }
  }

  bool give_tolerance(const DataJson& data) {
    const auto [first, last] = flat_cases_.equal_range(fs::path(data.url).filename().string());
    for (auto it = first; it != last; ++it) {
      Case& light = found_.cases[it->second];
      light.tolerance = data.tolerance;
      light.problem = data.problem;
    }
    return first != last;
  }

  /// One that cannot be read may hold the tolerances of any flat case. Of folders that are not below the
  /// user's paths nothing else is told.
  void url_folder(const fs::path& folder, const DataJson& data, bool below_paths) {
    if (give_tolerance(data)) return;
    if (!data.problem.empty())
      add_unseen(folder, data.problem);
    else if (below_paths && !data.url.empty())
      found_.no_cases["only a url"].push_back(folder.string());
  }

  const fs::path working_folder_ = fs::current_path();
  onnx_io::SystemFolders system_;
  const Deadline deadline_;
  Discovery found_;
  std::size_t reached_ = 0;  // cases and what hides some, found again included
  std::unordered_set<std::string> paths_;
  std::set<std::pair<dev_t, ino_t>> visited_;
  std::unordered_multimap<std::string, std::size_t>
      flat_cases_;  // file name of the model to the case's index
  std::set<fs::path> flat_folders_;
  std::map<std::string, DataJson> urls_;
};

}  // namespace

Discovery discover(const std::vector<std::string>& paths, Deadline deadline) {
  Finder finder(deadline);
  for (const std::string& path : paths) finder.start(path);
  return finder.finish();
}

}  // namespace grurun::conformance
