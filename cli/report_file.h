// A report that is written to a file when the work is done.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/error.h"

namespace grurun::cli {

/// Removes the file when it is a report that a run before has written, or empties it where its folder lets
/// nothing be removed: what reads nothing but the report must not take it for that of a run which failed. All
/// else stays.
void remove_old_report(const std::string& path);

/// A place that is tried before the work, so that one that cannot be written is known in time. What is there
/// already stays until the report takes its place, and no file is made before.
class ReportFile {
 public:
  /// No file for an empty path. Throws Error(usage) when it cannot be opened, and where a file is there that
  /// does not begin with one of these characters, as such reports do: it is something else.
  ReportFile(const std::string& path, std::string_view begins);

  bool is_wanted() const { return !path_.empty(); }

  /// Writes the report and closes the file. Throws Error(usage) when it could not be written whole; half of
  /// it is not left behind.
  void write(const std::string& text);
  /// Keeps the error, unless there is one already, for when all else is written and told.
  void write(const std::string& text, std::optional<Error>& failed);

 private:
  std::string path_;
  std::ofstream file_;  // open until the end where it is no regular file: a reader of a pipe waits for it
};

}  // namespace grurun::cli
