// Commands that look at many models: which ones, and each in a worker process of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/limit_flags.h"
#include "cli/sandbox_flags.h"
#include "tensor/error.h"

namespace grurun::cli {

/// The files that arguments name, and for a folder the models below it (onnx_io::find_models). Throws
/// Error(usage) for a folder that has none or cannot be read.
std::vector<std::string> model_paths(const std::vector<std::string>& arguments);

/// What became of one model.
struct ModelAnswer {
  std::string bytes;            // what `look` returned
  std::optional<Error> failed;  // what it threw, or that its process died
};

struct LookOptions {
  int jobs = 0;  // processes side by side; 0: one for each CPU
  LimitFlags limits;
  std::string sandbox = "auto";
  std::string what;   // "the check", in messages
  bool here = false;  // the one model is looked at in this process, which is in its sandbox
};

struct Look {
  /// Looks at one model.
  std::function<std::string(const std::string& path)> all;
  /// At a limit, from another thread: what is known of the model until then. Empty: nothing but the limit is
  /// told.
  std::function<std::string(const std::string& limit)> until_now;
};

/// The sandbox of a command that looks at what the arguments name, and holds this process to the limits where
/// it is the one that looks: at a single file, not at those below a folder.
struct LookPlace {
  SandboxChoice sandbox;
  bool here = false;
};
LookPlace look_place(const std::vector<std::string>& arguments, const std::string& mode,
                     const LimitFlags& limits, const std::vector<std::string>& written);

/// Looks at each in the sandbox, within the limits, and returns the answers in the order of the paths. Of a
/// model that is looked at here `finish` is called with what is known when its time is up, and the process
/// ends with the exit code of a limit. Throws Error(usage) when a signal ends it.
std::vector<ModelAnswer> look_at_each(const std::vector<std::string>& paths, const LookOptions& options,
                                      const Look& look,
                                      const std::function<void(const std::vector<ModelAnswer>&)>& finish);

/// -j, --jobs.
void add_jobs_flag(CLI::App& command, int& jobs);

/// The exit code of a command that goes on when one of its models fails: that of usage, else that of a limit,
/// since not all is known then, else that of an invalid model, else that of the first other failure.
class ExitCode {
 public:
  void note(ErrorKind kind);
  int value() const;

 private:
  bool usage_ = false;
  bool limit_ = false;
  bool invalid_ = false;
  int other_ = 0;
};

}  // namespace grurun::cli
