// A report that is written to a file when the work is done.
#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/output_file.h"
#include "tensor/error.h"

namespace grurun::cli {

/// Removes the files that the arguments of the program name for reports, where a report of a run before is
/// there, or empties them where their folder lets nothing be removed: what reads nothing but the report must
/// not take it for that of a run which failed. All else stays, and all where help is asked for. To be called
/// before the arguments are understood, since a run that fails because of them has no report either.
void remove_old_reports(const std::vector<std::string>& arguments);

bool asks_for_help(const std::vector<std::string>& arguments);

/// Whether a report is added to what is there: to the summary of a step, a file that GitHub names by the
/// variable GITHUB_STEP_SUMMARY and that other commands of the step write to as well.
bool is_shared_summary(const std::string& path);

/// A place that is tried before the work, so that one that cannot be written is known in time. What is there
/// already stays until the report takes its place, and no file is made before.
class ReportFile {
 public:
  ReportFile() = default;

  /// begins: what such reports begin with, or nothing. Throws Error(usage) when it cannot be opened, and
  /// where a file is there whose first character is another, or, where nothing is known of it, which is no
  /// text: it is something else.
  ReportFile(const std::string& path, std::string_view begins);

  /// Writes the report and closes the file. Where it could not be written whole, half of it is not left
  /// behind, and the error is kept, unless there is one already, for when all else is written and told.
  void write(const std::string& text, std::optional<Error>& failed);

  /// Adds to the report, which is there from the first call on: what a run that is killed did is not lost.
  void append(const std::string& text, std::optional<Error>& failed);

 private:
  void write(const std::string& text);

  std::string path_;
  bool appends_ = false;
  std::unique_ptr<onnx_io::OutputFile> growing_;  // what append() adds to
  std::ofstream file_;  // open until the end where it is no regular file: a reader of a pipe waits for it
};

}  // namespace grurun::cli
