#include "cli/sandbox_flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "onnx_io/bytes.h"
#include "onnx_io/folder.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace fs = std::filesystem;

namespace {

bool process_is_own = false;

/// The path, what is beside it where it is a file, and where links in it lead.
void add_readable(const std::string& path, std::vector<std::string>& to) {
  std::error_code error;
  // Of a file that is missing the message names those that may have been meant.
  if (!fs::exists(path, error)) return to.push_back(onnx_io::folder_of(path));
  to.push_back(path);
  const bool is_folder = fs::is_directory(path, error);
  if (!is_folder) to.push_back(onnx_io::folder_of(path));
  if (is_folder) onnx_io::add_links(path, to);
}

/// The folder that a file is made in: of one that is to be made, the nearest that is there.
std::string folder_of_written(const std::string& path) {
  std::error_code error;
  fs::path folder = fs::is_directory(path, error) ? fs::path(path) : fs::path(path).parent_path();
  // A file that is a link is written where it leads.
  if (fs::is_symlink(path, error)) folder = fs::weakly_canonical(path, error).parent_path();
  while (!folder.empty() && !fs::is_directory(folder, error)) folder = folder.parent_path();
  return folder.empty() ? "." : folder.string();
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

std::unique_ptr<conformance::Sandbox> make_sandbox(const std::string& mode, const SandboxFiles& files) {
  const conformance::SandboxMode chosen = sandbox_mode(mode);
  if (chosen == conformance::SandboxMode::off) return nullptr;
  conformance::SandboxPaths paths;
  for (const std::string& model : files.models) add_readable(model, paths.read);
  for (const std::string& value : files.values) {
    add_readable(value, paths.read);
    // "X=x.npy"; a name may hold more of them.
    for (std::size_t at = value.find('='); at != value.npos; at = value.find('=', at + 1))
      add_readable(value.substr(at + 1), paths.read);
  }
  for (const std::string& path : files.written) {
    if (path.empty() || path == "-") continue;
    paths.write.push_back(folder_of_written(path));
    // A device or pipe is opened as it is.
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error) && !fs::is_directory(path, error))
      paths.write.push_back(path);
  }
  return std::make_unique<conformance::Sandbox>(chosen, paths);
}

void enter_sandbox(const std::string& mode, const SandboxFiles& files) {
  const conformance::SandboxMode chosen = sandbox_mode(mode);
  if (!process_is_own && chosen == conformance::SandboxMode::strict)
    fail_unsupported("--sandbox strict: this process is not the command's own; use the program grurun");
  if (!process_is_own) return;
  if (const auto sandbox = make_sandbox(mode, files)) sandbox->enter();
}

}  // namespace grurun::cli
