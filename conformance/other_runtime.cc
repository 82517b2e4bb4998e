#include "conformance/other_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "onnx_io/folder.h"
#include "trial/data_set_names.h"

namespace grurun::conformance {

namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// What the runtime itself left on why there is nothing, in a line.
std::string said_in(const fs::path& folder) {
  std::ifstream in(folder / "error.txt", std::ios::binary);
  constexpr std::size_t longest = 300;
  std::string line(longest, '\0');
  line.resize(static_cast<std::size_t>(in.read(line.data(), longest).gcount()));
  line.resize(std::min(line.find('\n'), line.size()));
  return line.empty() ? line : "; the runtime said: " + line;
}

OtherOutputs missing(const fs::path& folder, const std::string& what) {
  return {{}, Verdict::missing, what + said_in(folder)};
}

std::vector<std::string> archives_in(const fs::path& folder) {
  std::vector<std::string> found;
  for (const onnx_io::FolderEntry& entry : onnx_io::entries_of(folder.string()))
    if (fs::path(entry.name).extension() == ".npz") found.push_back((folder / entry.name).string());
  std::ranges::sort(found);
  return found;
}

OtherOutputs read_by_name(const std::string& archive, const onnx_io::Graph& graph) {
  OtherOutputs out;
  out.values = trial::read_values({archive}, trial::output_slots(graph), trial::Side::output);
  for (std::size_t i = 0; i < out.values.size(); ++i)
    if (out.values[i].empty())
      return missing(fs::path(archive).parent_path(),
                     fmt::format("{} holds no '{}'", archive, graph.outputs[i].name));
  return out;
}

}  // namespace

std::string folder_of_outputs(const std::string& folder, const Case& test) {
  fs::path end;
  std::string found;
  fs::path rest = fs::path(test.path).lexically_normal();
  if (!rest.has_filename()) rest = rest.parent_path();
  if (test.flat) rest = rest.parent_path() / test.name;
  for (int names = 0; names < 3 && rest.has_filename(); ++names, rest = rest.parent_path()) {
    end = names == 0 ? rest.filename() : rest.filename() / end;
    if (is_folder(fs::path(folder) / end)) found = (fs::path(folder) / end).string();
  }
  return found;
}

OtherOutputs read_outputs(const std::string& folder, const std::string& set, const onnx_io::Graph& graph) {
  fs::path place = fs::path(folder) / (set.empty() ? std::string("test_data_set_0") : set);
  if (const std::string archive = place.string() + ".npz"; is_there(archive))
    return read_by_name(archive, graph);
  if (!is_folder(place) && set.empty()) place = folder;
  if (!is_folder(place)) return missing(folder, fmt::format("there is no folder {}", place.string()));
  std::vector<std::string> absent;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string file = fmt::format("{}{}", trial::output_prefix, i);
    if (!is_there(place / (file + ".pb")) && !is_there(place / (file + ".npy")))
      absent.push_back(fmt::format("{}.pb or .npy for output '{}'", file, graph.outputs[i].name));
  }
  const std::vector<std::string> archives = archives_in(place);
  if (archives.size() == 1 && absent.size() == graph.outputs.size()) return read_by_name(archives[0], graph);
  if (!absent.empty())
    return missing(place,
                   fmt::format("{} has no {}{}", place.string(), absent.front(),
                               absent.size() > 1 ? fmt::format(" and {} more", absent.size() - 1) : ""));
  OtherOutputs out;
  out.values = trial::read_values({place.string()}, trial::output_slots(graph), trial::Side::output);
  return out;
}

}  // namespace grurun::conformance
