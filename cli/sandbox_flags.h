// --sandbox: what a command may still do while it reads a stranger's model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/app.h"
#include "conformance/sandbox.h"

namespace grurun::cli {

void add_sandbox_flag(CLI::App& app, std::string& mode, const std::string& group = "Options");

/// Throws Error(usage) for what is no mode.
conformance::SandboxMode sandbox_mode(const std::string& text);

/// To be called by a program whose process does nothing after its command: only there enter_sandbox does
/// anything.
void own_process();

/// What a command names: models, and the values of flags that name files or folders ("x.npy", "X=x.npy").
struct SandboxFiles {
  std::vector<std::string> models{};
  std::vector<std::string> values{};
  std::vector<std::string> written{};  // files; "-" and "" are none
  std::vector<std::string> folders{};  // that files are made in; "" is none
  std::vector<std::string> scratch{};  // folders that are there until the process ends
};

/// The sandbox of a command.
struct SandboxChoice {
  std::string mode = "auto";  // of --sandbox
  SandboxFiles files{};
  bool leads_workers = false;  // which have one each: then it can read what is not the system's
};

/// For processes that this one forks, which read models and write nothing; nullptr for off.
std::unique_ptr<conformance::Sandbox> make_sandbox(const std::string& mode,
                                                   const std::vector<std::string>& models);

/// Puts this process into the sandbox: it can read the folders of the models, and the values with what lies
/// beside them. It writes the files, which are opened before (onnx_io/kept_outputs.h), and makes files in the
/// folders, nowhere else. Nothing may have started a thread. Throws what Sandbox throws. Only the program
/// calls it, for every command.
void enter_sandbox(const SandboxChoice& choice);

}  // namespace grurun::cli
