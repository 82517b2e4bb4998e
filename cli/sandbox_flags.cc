#include "cli/sandbox_flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/report_file.h"
#include "conformance/memory_groups.h"
#include "conformance/resident.h"
#include "onnx_io/bytes.h"
#include "onnx_io/folder.h"
#include "onnx_io/kept_outputs.h"
#include "onnx_io/system_folders.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace fs = std::filesystem;

namespace {

bool process_is_own = false;

/// The path, what is beside it where it is a file, and where links below it lead.
void add_readable(const std::string& path, conformance::SandboxPaths& to) {
  std::error_code error;
  if (fs::exists(path, error)) to.read.push_back(path);
  if (fs::is_directory(path, error)) return onnx_io::add_links_below(path, to.links);
  // Of a file that is missing the message names those that may have been meant. /dev/stdin has nothing beside
  // it that belongs to it.
  std::string folder = onnx_io::folder_of(path);
  if (!onnx_io::SystemFolders().hold(folder)) to.read.push_back(std::move(folder));
}

conformance::SandboxPaths readable(const SandboxFiles& files) {
  conformance::SandboxPaths paths;
  for (const std::string& model : files.models) add_readable(model, paths);
  for (const std::string& value : files.values) {
    add_readable(value, paths);
    // "X=x.npy"; a name may hold more of them.
    for (std::size_t at = value.find('='); at != value.npos; at = value.find('=', at + 1))
      add_readable(value.substr(at + 1), paths);
  }
  return paths;
}

void add_writable(const SandboxFiles& files, conformance::SandboxPaths& paths) {
  onnx_io::OutputPlaces places{{}, files.folders, files.scratch};
  std::erase(places.folders, "");
  for (const std::string& path : files.written) {
    if (path.empty() || path == "-") continue;
    paths.read.push_back(path);  // whether it is a report
    // What is written where it is: the summary, a device, a pipe, a file with several names, what a link
    // leads to.
    (is_shared_summary(path) ? paths.write : places.files).push_back(path);
  }
  for (const std::string& path : onnx_io::keep_outputs(places)) paths.write.push_back(path);
  paths.write.insert(paths.write.end(), places.folders.begin(), places.folders.end());
  paths.write.insert(paths.write.end(), places.scratch.begin(), places.scratch.end());
}

}  // namespace

void own_process() {
  process_is_own = true;
}

void add_sandbox_flag(CLI::App& app, std::string& mode, const std::string& group) {
  app.add_option("--sandbox", mode,
                 "auto: what the kernel has of Landlock and seccomp; strict: both, or exit code 4; off")
      ->type_name("MODE")
      ->default_str("auto")
      ->group(group);
}

conformance::SandboxMode sandbox_mode(const std::string& text) {
  if (const auto mode = conformance::parse_sandbox_mode(text)) return *mode;
  fail_usage("--sandbox is auto, strict or off, not '{}'", text);
}

std::unique_ptr<conformance::Sandbox> make_sandbox(const std::string& mode,
                                                   const std::vector<std::string>& models) {
  const conformance::SandboxMode chosen = sandbox_mode(mode);
  if (chosen == conformance::SandboxMode::off) return nullptr;
  return std::make_unique<conformance::Sandbox>(chosen, conformance::SandboxRole::worker, readable({models}));
}

void enter_sandbox(const SandboxChoice& choice) {
  using conformance::SandboxRole;
  const conformance::SandboxMode chosen = sandbox_mode(choice.mode);
  // Workers enter theirs wherever they were forked.
  if (!process_is_own && !choice.leads_workers && chosen == conformance::SandboxMode::strict)
    fail_unsupported("--sandbox strict: this process is not the command's own; use the program grurun");
  if (!process_is_own || chosen == conformance::SandboxMode::off) return;
  conformance::SandboxPaths paths;
  paths.reads_all = choice.leads_workers;
  if (!choice.leads_workers) paths = readable(choice.files);
  const bool bounds_files = conformance::sandbox_support().landlock > 0;
  // Without Landlock files are made as ever.
  if (bounds_files) add_writable(choice.files, paths);
  if (bounds_files && choice.leads_workers) {
    for (const std::string& path : choice.files.values) paths.read.push_back(path);
    if (const conformance::GroupPlace& place = conformance::group_place(); place.version != 0)
      paths.write.push_back(place.folder);
    conformance::start_memory_watch();
  }
  conformance::Sandbox(chosen, choice.leads_workers ? SandboxRole::leader : SandboxRole::command, paths)
      .enter();
}

}  // namespace grurun::cli
