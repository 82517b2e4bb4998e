// Commands that look at many models: which ones, and each in a worker process of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/limit_flags.h"
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
  std::vector<std::string> written;  // files that the command writes
  std::string what;                  // "the check", in messages
};

struct Look {
  /// Looks at one model.
  std::function<std::string(const std::string& path)> all;
  /// At a limit, from another thread: what is known of the model until then. Empty: nothing but the limit is
  /// told.
  std::function<std::string(const std::string& limit)> until_now;
};

/// Looks at each in the sandbox, within the limits, and returns the answers in the order of the paths. A
/// single model is looked at in this process: when its time is up, `finish` is called with what is known, and
/// the process ends with the exit code of a limit. Throws Error(usage) when a signal ends it.
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
