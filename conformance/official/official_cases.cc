#include "conformance/official/official_cases.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "conformance/discover.h"
#include "conformance/known_wrong.h"
#include "conformance/official/onnx_data.h"
#include "conformance/run_program.h"
#include "conformance/sha256.h"
#include "onnx_io/bytes.h"
#include "onnx_io/scratch_folder.h"
#include "tensor/error.h"

namespace grurun::conformance {
namespace {

namespace fs = std::filesystem;

constexpr const char* sums_file = "SHA256SUMS";
constexpr const char* known_wrong_file = "known-wrong.txt";
constexpr const char* incomplete_file = "incomplete.txt";
constexpr int is_incomplete = 1;  // exit status of the program below

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// Has Python run onnx_data.py. Returns the last line that it printed.
std::string run_onnx_data(const std::string& command, const std::string& source, const std::string& target) {
  const std::string python = python_program();
  if (!can_be_run(python))
    fail_usage("{}: no such program; install Python 3, or name one in GRURUN_PYTHON", python);
  const onnx_io::ScratchFolder scratch(fs::temp_directory_path().string());
  const std::string script = scratch.path() + "/onnx_data.py", said = scratch.path() + "/said.txt";
  onnx_io::write_file(script, {onnx_data_script});
  const std::optional<int> status =
      run_words({python, "-B", script, command, source, target}, said, 0, std::nullopt);
  const std::string last = last_line(said);
  if (!status || !WIFEXITED(*status) || WEXITSTATUS(*status) > is_incomplete)
    fail_usage("the official cases cannot be had: {}", last.empty() ? python + " failed" : last);
  return last;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

std::string sums_below(const fs::path& folder) {
  std::string out;
  for (const fs::path& file : files_below(folder))
    out += fmt::format("{}  {}\n", sha256_of_file(file.string()), file.lexically_relative(folder).string());
  return out;
}

std::string known_wrong_below(const std::string& folder) {
  std::string out;
  for (const Case& test : discover({folder}).cases)
    if (const KnownWrongRule* rule = find_known_wrong(test))
      out += fmt::format("{}: {}; {}\n", test.full_name(), rule->text, rule->mistake);
  return out;
}

}  // namespace

std::optional<std::string> node_generators(const std::string& data_folder) {
  std::error_code ignored;
  const fs::path data(data_folder), generators = data / ".." / "case" / "node";
  if (fs::exists(data / "node", ignored) || !fs::exists(generators / "__init__.py", ignored)) return {};
  const fs::path full = fs::canonical(data, ignored);
  if (full.filename() != "data" || full.parent_path().filename() != "test") return {};
  return generators.lexically_normal().string();
}

std::optional<std::string> node_generators_below(const std::string& path) {
  for (const char* way : {"", "data", "test/data", "backend/test/data", "onnx/backend/test/data"})
    if (auto found = node_generators((fs::path(path) / way).string())) return found;
  return std::nullopt;
}

OfficialCases write_official_cases(const OfficialSource& source, const std::string& folder) {
  const bool is_release = !source.release.empty();
  run_onnx_data(is_release ? "release" : "checkout", is_release ? source.release : source.checkout, folder);
  OfficialCases out{folder, lines_of(fs::path(folder) / "node" / incomplete_file)};
  onnx_io::write_file(folder + "/" + known_wrong_file, {known_wrong_below(folder)});
  onnx_io::write_file(folder + "/" + sums_file, {sums_below(folder)});
  return out;
}

OfficialCases make_node_cases(const std::string& checkout, const std::string& cache) {
  const std::string folder = run_onnx_data("node-cases", checkout, cache);
  return {folder, lines_of(fs::path(folder) / incomplete_file)};
}

std::string cache_folder() {
  if (const char* named = std::getenv("XDG_CACHE_HOME"); named != nullptr && *named != 0)
    return (fs::path(named) / "grurun").string();
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0)
    return (fs::path(home) / ".cache" / "grurun").string();
  fail_usage("no folder for what is made: neither XDG_CACHE_HOME nor HOME is set; use grurun data -o DIR");
}

}  // namespace grurun::conformance
